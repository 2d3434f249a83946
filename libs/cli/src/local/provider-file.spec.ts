import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadNightshiftFile } from '@nightshift/config';
import { providerFileOf } from './provider-file';

let stateDir = '';
beforeEach(() => (stateDir = mkdtempSync(path.join(tmpdir(), 'nightshift-file-'))));
afterEach(() => rmSync(stateDir, { recursive: true }));

const own = `# mine
providers:
  work:
    vendor: anthropic
    api_key_env: WORK_KEY
chains:
  default: [work/claude]
workspaces:
  allowed_roots: [/srv]
`;
const simulator = { providers: { sim: { vendor: 'openai-compatible', base_url: 'http://127.0.0.1:1/v1' } }, keys: { SIM: 'x' } };

function given(text: string | undefined): string {
  const file = path.join(stateDir, 'own.yaml');
  if (text !== undefined) writeFileSync(file, text);
  return file;
}

describe('providerFileOf', () => {
  it('is nothing when there is nothing, and a key in the environment alone changes nothing', () => {
    const env = { ANTHROPIC_API_KEY: 'k' };
    expect(providerFileOf({ file: given(undefined), stateDir, env })).toEqual({
      file: undefined,
      keys: {},
      configured: false,
      allowedRoots: [],
    });
  });

  it("is the user's own file with the keys it names", () => {
    const file = given(own);
    const env = { WORK_KEY: 'w', OTHER_KEY: 'o' };
    expect(providerFileOf({ file, stateDir, env })).toEqual({
      file,
      keys: { WORK_KEY: 'w' },
      configured: true,
      allowedRoots: ['/srv'],
    });
  });

  it('adds the simulator and a well-known provider that has its key', () => {
    const wishes = { file: given(own), stateDir, extra: simulator, model: 'groq/llama', env: { GROQ_API_KEY: 'g' } };
    const made = providerFileOf(wishes);
    expect(made.keys).toEqual({ GROQ_API_KEY: 'g', SIM: 'x' });
    expect(Object.keys(loadNightshiftFile(made.file).providers)).toEqual(['work', 'sim', 'groq']);
    expect(readFileSync(made.file!, 'utf8')).not.toContain('"g"');
  });

  it.each([
    ['nobody/x', {}, /no provider "nobody"/],
    ['anthropic/claude', {}, /needs a key in ANTHROPIC_API_KEY/],
    ['constructor/x', {}, /no provider "constructor"/],
  ])('refuses --model %s', (model, env, expected) => {
    expect(() => providerFileOf({ file: given(undefined), stateDir, model, env })).toThrow(expected);
  });
});
