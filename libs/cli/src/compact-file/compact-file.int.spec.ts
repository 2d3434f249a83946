import type { ServerResponse } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create, fromJson, toJson, type JsonValue } from '@bufbuild/protobuf';
import { llm, type NightshiftError } from '@nightshift/contracts';
import { scriptedHttp, type ScriptedHttp } from '@nightshift/testing';
import { Api } from '../client/api';
import { programOf } from '../program';
import { extractiveSummary } from './extractive';

const tierNames = ['summary', 'micro', 'images', 'on_device', 'prune'];
let folder = '';
let gateway: ScriptedHttp;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'nightshift-compact-file-'));
  gateway = await scriptedHttp();
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => {
  process.exitCode = undefined;
});

function fileOf(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** An OpenAI chat session with 30 results of 2 000 tokens, so that a window of 64 000 compacts. */
function longSession(): string {
  const rounds = Array.from({ length: 30 }, (_, i) => [
    { role: 'assistant', content: `step ${i}`, tool_calls: [{ id: `c${i}`, function: { name: 'read', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: `c${i}`, content: `line ${i} of a file. `.repeat(400) },
  ]);
  return JSON.stringify([{ role: 'user', content: 'Fix the build.' }, ...rounds.flat()]);
}

async function compact(...args: string[]): Promise<{ out: string; err: string }> {
  let out = '';
  let err = '';
  const output = { write: (piece: string) => void (out += piece), live: false, columns: 100 };
  const api = (): Api => new Api({ url: 'http://127.0.0.1:9', key: () => 'k' });
  const program = programOf({ api, gateway: () => gateway.url, output, warn: (line) => void (err += `${line}\n`) });
  for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => undefined });
  await program.parseAsync(['node', 'nightshift', 'compact', ...args]);
  return { out, err };
}

describe('nightshift compact FILE', () => {
  it('prints as --json exactly the fields that programs rely on', async () => {
    const { out } = await compact(fileOf('long.json', longSession()), '--window', '64000', '--json');
    const report = JSON.parse(out) as Record<string, unknown> & { generations: Record<string, unknown>[] };
    expect(Object.keys(report)).toEqual(['format', 'messages', 'window', 'threshold', 'generations', 'final']);
    expect(report).toMatchObject({ format: 'openai-chat', messages: 61, window: 64_000, threshold: 32_000 });
    expect(Object.keys(report.final as object)).toEqual(['tokens', 'messages']);
    expect(report.generations.length).toBeGreaterThanOrEqual(1);
    for (const generation of report.generations) {
      expect(Object.keys(generation)).toEqual([
        ...['index', 'atMessage', 'before', 'after', 'tiers', 'hidden', 'restorable', 'dropped', 'valid'],
      ]);
      expect(generation.valid).toEqual({ anthropic: true, openaiChat: true, openaiResponses: true });
      for (const tier of generation.tiers as Record<string, unknown>[]) {
        expect(Object.keys(tier)).toEqual(['tier', 'outcome', 'before', 'after', 'reason']);
        expect(tierNames).toContain(tier.tier);
      }
    }
  });

  it('writes the resulting view where --out says', async () => {
    const out = path.join(folder, 'view.json');
    await compact(fileOf('long.json', longSession()), '--window', '64000', '--out', out, '--summary', 'none');
    expect((JSON.parse(readFileSync(out, 'utf8')) as { messages: unknown[] }).messages.length).toBeGreaterThan(3);
  });

  it('says with sizes when the floor does not fit, beside the report', async () => {
    const system = { role: 'system', content: 'You are a careful engineer. '.repeat(6_000) };
    const session = JSON.stringify([system, ...(JSON.parse(longSession()) as object[])]);
    const { out, err } = await compact(fileOf('floor.json', session), '--window', '32000', '--json');
    expect(err).toMatch(/^stopped: .*CONTEXT_IRREDUCIBLE.*\d/);
    expect(Object.keys(JSON.parse(out) as object)).not.toContain('stopped');
  });

  it('leaves out a line that is cut off, with a warning on stderr and exit code 0', async () => {
    const whole = '{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}';
    const { out, err } = await compact(fileOf('cut.jsonl', `${whole}\n${whole.slice(0, 40)}`), '--json');
    expect(err).toBe(`warning: ${path.join(folder, 'cut.jsonl')}:2: the last line is cut off and was left out\n`);
    expect(JSON.parse(out)).toMatchObject({ format: 'claude-code', messages: 1, generations: [] });
    expect(process.exitCode).toBeUndefined();
  });

  it('ends with 2 and names file, line and what was expected', async () => {
    const whole = '{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}';
    const cases: [string, string, RegExp][] = [
      ['middle.jsonl', `${whole}\n{"type":\n${whole}\n`, /middle\.jsonl:2: expected one JSON object/],
      ['text.txt', 'hello\n', /text\.txt:1: expected JSON/],
      ['empty.json', '', /empty\.json:1: expected a session, found an empty file/],
      ['pretty.json', '[\n  {\n    "role": "user",\n    "content": go\n  }\n]', /pretty\.json:4: expected one JSON value/],
      ['cut.json', '[\n  {\n    "role": "user",\n', /cut\.json:3: expected one JSON value/],
      ['broken.json', '[{"role":"user","content":"go"},]', /broken\.json:1: expected one JSON/],
      ['foreign.json', '{\n  "name": "package"\n}', /foreign\.json:1: expected a session of codex/],
      [
        'element.json',
        '[\n  {"role":"user","content":"go"},\n  {"content":"ok"}\n]',
        /element\.json:3: 1\.role: .*expected string/,
      ],
    ];
    for (const [name, text, message] of cases) {
      const { out, err } = await compact(fileOf(name, text));
      expect({ name, out, code: process.exitCode }).toEqual({ name, out: '', code: 2 });
      expect(err).toMatch(message);
    }
    process.exitCode = undefined;
    const { err } = await compact(path.join(folder, 'absent.json'));
    expect(err).toMatch(/absent\.json: expected a file that can be read \(ENOENT\)/);
    expect(process.exitCode).toBe(2);
  });
});

describe('nightshift compact FILE --summary MODEL', () => {
  it('asks the model through the gateway and shows what its summary saves', async () => {
    gateway.answers = {
      'POST /internal/complete': async (request: { body: string }, response: ServerResponse) => {
        const asked = fromJson(llm.CompleteRequestSchema, JSON.parse(request.body) as JsonValue);
        expect(asked).toMatchObject({ purpose: 'summary', toolChoice: 'none', chain: [{ provider: 'acme', model: 'a/b' }] });
        expect(asked.view?.tools.map(({ name }) => name)).toEqual(['read']);
        if (!asked.view) throw new Error('a request without a view');
        const message = await extractiveSummary({ view: asked.view } as Parameters<typeof extractiveSummary>[0]);
        const reply = toJson(llm.CompleteReplySchema, create(llm.CompleteReplySchema, { message }));
        response.writeHead(200, { 'content-type': 'application/x-ndjson' });
        response.end(`{"kind":"text","text":"…"}\n${JSON.stringify({ kind: 'finished', reply })}\n`);
      },
    };
    const { out } = await compact(fileOf('long.json', longSession()), '--window', '64000', '--summary', 'acme/a/b', '--json');
    const { generations } = JSON.parse(out) as { generations: { tiers: object[] }[] };
    expect(generations[0]?.tiers[0]).toMatchObject({ tier: 'summary', outcome: 'applied' });
    expect(gateway.seen.filter(({ method }) => method === 'POST').length).toBeGreaterThanOrEqual(1);
  });

  it('ends with what the gateway says when the model is not configured, rather than doing without', async () => {
    const error = { code: 'PROVIDER_NOT_FOUND', message: 'no provider "x" is configured; known models: acme/a', faults: [] };
    gateway.answers = {
      'POST /internal/complete': (_: unknown, response: ServerResponse) => {
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error }));
      },
    };
    const run = compact(fileOf('long.json', longSession()), '--window', '64000', '--summary', 'x/y');
    await expect(run).rejects.toMatchObject({ code: 'PROVIDER_NOT_FOUND', text: error.message });
  });

  it('goes on through the other tiers when the model fails, with the reason in the report', async () => {
    const error = { code: 'PROVIDER_OVERLOADED', message: 'acme is overloaded', faults: [] };
    gateway.answers = {
      'POST /internal/complete': (_: unknown, response: ServerResponse) => {
        response.writeHead(503, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error }));
      },
    };
    const { out } = await compact(fileOf('long.json', longSession()), '--window', '64000', '--summary', 'acme/a', '--json');
    const { generations } = JSON.parse(out) as { generations: { tiers: { reason: string }[] }[] };
    expect(generations[0]?.tiers[0]).toMatchObject({ tier: 'summary', outcome: 'failed' });
    expect(generations[0]?.tiers[0]?.reason).toContain('acme is overloaded');
  });

  it('says what to do when no gateway answers, before anything is replayed', async () => {
    await gateway.stop();
    const run = compact(fileOf('long.json', longSession()), '--summary', 'acme/a');
    const error = await run.catch((thrown: unknown) => thrown as NightshiftError);
    await gateway.start();
    expect(error).toMatchObject({
      code: 'UNAVAILABLE',
      text: `no provider gateway answers at ${gateway.url}`,
      faults: [
        'run `npm start`, or name another one with NIGHTSHIFT_GATEWAY_URL',
        'or take `--summary extractive`, which needs no model',
      ],
    });
  });

  it('refuses what names no model', async () => {
    await expect(compact(fileOf('long.json', longSession()), '--summary', 'gpt')).rejects.toThrow(
      'expected none, extractive or provider/model, got "gpt"',
    );
  });
});
