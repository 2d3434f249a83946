import { NightshiftError } from '@nightshift/contracts';
import { loadNightshiftFile, parseCandidate, parseNightshiftFile } from './index';

function faultsOf(text: string): readonly string[] {
  try {
    parseNightshiftFile(text, 'nightshift.yaml');
    return [];
  } catch (error) {
    return NightshiftError.from(error).faults;
  }
}

describe('the nightshift file', () => {
  it('is empty when there is none', () => {
    expect(loadNightshiftFile(undefined)).toEqual({
      providers: {},
      chains: {},
      compaction: {},
      workspaces: { allowed_roots: [] },
    });
    expect(parseNightshiftFile('# only a comment\n', 'x')).toEqual(loadNightshiftFile(undefined));
  });

  it('holds providers, chains and the model that stays on the machine', () => {
    const file = parseNightshiftFile(
      `
providers:
  anthropic: { vendor: anthropic, api_key_env: ANTHROPIC_API_KEY }
  local:
    vendor: ollama
    base_url: http://127.0.0.1:11434
    models:
      qwen3:8b: { num_ctx: 32768 }
chains:
  default: [anthropic/claude-x, local/qwen3:8b]
on_device: local/hf.co/org/model:Q4
compaction: { fraction: 0.8, cap: 200000 }
`,
      'nightshift.yaml',
    );
    expect(file.chains).toEqual({
      default: [
        { provider: 'anthropic', model: 'claude-x' },
        { provider: 'local', model: 'qwen3:8b' },
      ],
    });
    expect(file.on_device).toEqual({ provider: 'local', model: 'hf.co/org/model:Q4' });
    expect(file.providers['local']).toEqual({
      vendor: 'ollama',
      base_url: 'http://127.0.0.1:11434',
      headers: {},
      models: { 'qwen3:8b': { num_ctx: 32_768 } },
      clocks: {},
    });
  });

  it.each([
    ['a missing vendor', 'providers: { x: {} }', ['nightshift.yaml:providers.x.vendor: expected string, found nothing']],
    ['an unknown key', 'providers: { x: { vendor: v, api_key: k } }', ['nightshift.yaml:providers.x: unknown: api_key']],
    ['a model without provider', 'chains: { default: [gpt] }', ['nightshift.yaml:chains.default.0: expected "provider/model"']],
    [
      'a chain of an unknown provider',
      'providers: { a: { vendor: v } }\nchains: { default: [b/m] }',
      ['nightshift.yaml:chains.default.0: expected a provider of this file (a), found b'],
    ],
    ['a list at the top', '- a', ['nightshift.yaml:(top): expected object, received array']],
  ])('refuses %s and says where', (_what, text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });

  it('names the line of a syntax error, and reports all faults at once', () => {
    expect(faultsOf('providers:\n  a: [')[0]).toMatch(/^nightshift\.yaml:.* at line \d+/);
    expect(faultsOf('providers: { x: {}, y: {} }')).toHaveLength(2);
  });

  it('says which file cannot be read', () => {
    expect(() => loadNightshiftFile('/nowhere/nightshift.yaml')).toThrow('cannot read /nowhere/nightshift.yaml (ENOENT)');
  });
});

describe('parseCandidate', () => {
  it('splits at the first slash only', () => {
    expect(parseCandidate('openrouter/meta/llama:free')).toEqual({ provider: 'openrouter', model: 'meta/llama:free' });
    for (const text of ['x', '/m', 'p/', '']) expect(() => parseCandidate(text)).toThrow('INVALID_ARGUMENT');
  });
});
