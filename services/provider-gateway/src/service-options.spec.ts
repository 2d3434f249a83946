import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { serviceOptions } from './service-options';

const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function faultsOf(yaml: string, environment: Record<string, string> = {}): readonly string[] {
  const file = path.join(folder, 'nightshift.yaml');
  writeFileSync(file, yaml);
  try {
    serviceOptions({ DATABASE_URL: 'postgresql://u:p@127.0.0.1:1/x', NIGHTSHIFT_FILE: file, ...environment });
    return [];
  } catch (error) {
    return NightshiftError.from(error).faults;
  }
}

it('reports every fault of every provider at once', () => {
  const faults = faultsOf(`
providers:
  a: { vendor: no-such-vendor }
  b: { vendor: openai }
  c: { vendor: anthropic, api_key_env: MISSING_KEY }
  d: { vendor: vllm }
  e: { vendor: vllm, base_url: "ftp://host/v1" }
  f: { vendor: vllm, base_url: "http://user:secret@host/v1" }
  g: { vendor: openai, api_key_file: "${folder}/nothing-here" }
  h: { vendor: openai, api_key_file: x, api_key_env: y }
`);
  expect(faults.map((fault) => fault.replace(/: .*/, ''))).toEqual([
    'providers.a.vendor',
    'providers.b.api_key_env',
    'providers.c.api_key_env',
    'providers.d.base_url',
    'providers.e.base_url',
    'providers.f.base_url',
    'providers.g.api_key_file',
    'providers.h.api_key_file',
  ]);
  expect(faults.join()).not.toContain('secret');
});

it('reports faults of the settings together with those of the file', () => {
  const faults = faultsOf('providers: { a: { vendor: 7 } }', { GATEWAY_PORT: 'many' });
  expect(faults).toEqual([expect.stringMatching(/^GATEWAY_PORT: /), expect.stringMatching(/providers\.a\.vendor: /)]);
});

it('names a malformed URL and an unknown provider of a chain', () => {
  expect(faultsOf('providers: { a: { vendor: vllm, base_url: "not a url" } }')).toEqual([
    expect.stringMatching(/providers\.a\.base_url: /),
  ]);
  expect(faultsOf('chains: { default: ["nobody/model"] }')).toEqual([expect.stringMatching(/chains\.default\.0: .*nobody/)]);
});

it('takes a key from the usual variable, a named one, or a file', () => {
  writeFileSync(path.join(folder, 'key'), 'from-a-file\n');
  const yaml = `
providers:
  a: { vendor: openai }
  b: { vendor: openai, api_key_env: OWN_KEY }
  c: { vendor: openai, api_key_file: "${folder}/key" }
  d: { vendor: ollama }
`;
  expect(faultsOf(yaml, { OPENAI_API_KEY: 'x', OWN_KEY: 'y' })).toEqual([]);
});
