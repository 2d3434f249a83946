import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Api } from '../client/api';
import type { TaskJson } from '../client/shapes';
import { programOf } from '../program';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const task: TaskJson = {
  id,
  parentId: '',
  state: 'running',
  pending: 'step',
  reason: '',
  goal: 'make it work',
  criteria: [{ id: 'c1', text: 'it works', done: true, evidence: 'npm test' }],
  plan: [{ text: 'look', state: 'doing' }],
  chain: [{ provider: 'claude', model: 'x' }],
  chainPosition: 0,
  generation: 1,
  lastSeq: 3,
  iterations: 2,
  toolCalls: 3,
  thresholdHits: 1,
  measuredTokens: 43_120,
  threshold: 100_000,
  effectiveThreshold: 100_000,
  window: 200_000,
  windowSource: 'catalogue',
  createdAtMs: 1_000,
  updatedAtMs: 61_000,
  endedAtMs: 0,
  result: '',
  model: 'x',
  provider: 'claude',
  question: '',
};
const done: TaskJson = { ...task, state: 'completed', endedAtMs: 62_000, result: 'it works now' };
const event = (seq: number, kind: string, data: object = {}): string =>
  `id: ${seq}\nevent: task\ndata: ${JSON.stringify({ seq, atMs: 0, taskId: id, kind, data })}\n\n`;

/** What the server answers, by "METHOD path"; the other side of the wire. */
type Answer = object | ((request: IncomingMessage, response: ServerResponse, body: string) => void);
let answers: Record<string, Answer> = {};
let asked: Array<{ line: string; body: string; headers: IncomingMessage['headers'] }> = [];
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => {
      asked.push({ line: `${request.method} ${request.url}`, body, headers: request.headers });
      const answer = answers[`${request.method} ${request.url?.split('?')[0]}`];
      if (typeof answer === 'function') return answer(request, response, body);
      response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer ?? { code: 'NOT_FOUND', detail: 'there is no such thing', faults: ['id: unknown'] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
beforeEach(() => {
  answers = {};
  asked = [];
});

async function nightshift(...args: string[]): Promise<string> {
  let text = '';
  const output = { write: (piece: string) => void (text += piece), live: false, columns: 100 };
  const program = programOf({ api: () => new Api({ url, key: () => 'k' }), gateway: () => url, output, warn: () => undefined });
  await program.exitOverride().parseAsync(['node', 'nightshift', ...args]);
  return text;
}

describe('task', () => {
  it('submits, follows over a broken stream without missing or repeating an event, and shows the diff', async () => {
    let streams = 0;
    let state = task;
    answers = {
      'POST /v1/tasks': task,
      [`GET /v1/tasks/${id}`]: (_, response) => response.end(JSON.stringify(state)),
      [`GET /v1/tasks/${id}/events`]: (request, response) => {
        streams += 1;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (streams === 1) {
          response.write(event(1, 'workspace_opened', { path: '/w' }));
          response.write(event(2, 'tool_finished', { tool: 'read_file', state: 'finished', ms: 5, chars: 9 }), () =>
            response.destroy(),
          );
          return;
        }
        expect(request.url).toContain('after=2');
        state = done;
        response.end(event(2, 'tool_finished') + event(3, 'finished') + 'event: end\ndata: {}\n\n');
      },
      [`GET /v1/tasks/${id}/diff`]: { patch: '+ it works', files: [{ path: 'a.ts', kind: 'changed' }] },
    };
    state = { ...task, workspace: { id: 'w', directory: '/a', path: '/w', mode: 'worktree', sandboxed: true } };
    const before = state;
    const text = await nightshift('task', 'make it work', '--model', 'claude/x', '--criteria', 'it works', '--key', 'once');
    expect(before.state).toBe('running');
    expect(text).toContain(`task ${id}\n`);
    expect(text).toContain(
      'running · 43 120 / 100 000 tokens, window 200 000 (catalogue) · claude/x · 3 tool calls · 1 compaction',
    );
    expect(text.match(/read_file, 9 B/g)).toHaveLength(1);
    expect(text).toContain('it works now');
    expect(text).toContain('[x] it works (npm test)');
    expect(asked[0]?.headers['idempotency-key']).toBe('once');
    expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject({
      goal: 'make it work',
      models: ['claude/x'],
      criteria: ['it works'],
    });
  });
});

describe('what is shown', () => {
  const generation = {
    generation: 1,
    reason: 'threshold',
    outcome: 'reduced',
    tiers: [{ tier: 'summary', outcome: 'applied', before: 40_000, after: 9_000, ms: 5, reason: '' }],
    loss: { rows: [{ kind: 'tool_result', fate: 'restorable', count: 9, tokens: 30_000, bytes: 90_000 }] },
    before: 40_000,
    after: 9_000,
    window: 64_000,
    threshold: 32_000,
    effectiveThreshold: 32_000,
    provider: 'p',
    model: 'm',
    atMs: 0,
    active: true,
    reinjected: [],
  };
  const window = {
    provider: 'p',
    endpoint: '',
    model: 'm',
    window: 64_000,
    inputMax: 0,
    outputMax: 8_000,
    source: 'served',
    warning: 'small',
  };
  const sources = [{ source: 'catalogue', window: 128_000, fate: 'lost', reason: 'served goes first' }];
  const cases: ReadonlyArray<readonly [string[], Record<string, object>, RegExp[]]> = [
    [['tasks'], { 'GET /v1/tasks': { tasks: [task], more: false } }, [/id\s+state\s+started\s+calls\s+goal/, /make it work/]],
    [['status', id], { [`GET /v1/tasks/${id}`]: task }, [/43 120 \/ 100 000 tokens/, /plan\s+\[>\] look/]],
    [
      ['generations', id],
      { [`GET /v1/tasks/${id}/generations`]: { generations: [generation] } },
      [/threshold → reduced/, /restorable/],
    ],
    [
      ['models'],
      {
        'GET /v1/models': {
          windows: [{ window, sources, numCtx: 0 }],
          endpoints: [{ provider: 'p', endpoint: 'http://x', state: 'up', reason: '', lastOkMs: 0, serverVersion: '1' }],
        },
      },
      [/p\/m: window 64 000 \(served\), output ≤ 8 000/, /lost\s+catalogue\s+128 000/, /warning: small/],
    ],
    [
      ['providers'],
      {
        'GET /v1/providers': {
          providers: [
            {
              provider: 'p',
              endpoint: 'http://x',
              format: 'ollama-chat',
              keyConfigured: false,
              inFlight: 1,
              limit: 8,
              breakers: [{ model: 'm', state: 'open', failures: 5, openUntilMs: 0, reason: 'timeouts', trips: 1 }],
              models: [],
            },
          ],
        },
      },
      [/no key\s+1\/8/, /p\/m\s+open\s+5\s+1\s+-\s+timeouts/],
    ],
    [
      ['dead-letters'],
      {
        'GET /v1/dead-letters': {
          deadLetters: [{ id: 'd', state: 'waiting', atMs: 0, route: 'taskStep', deliveries: 5, reason: 'poison' }],
        },
      },
      [/taskStep\s+5\s+poison/],
    ],
    [
      ['keys'],
      {
        'GET /v1/keys': {
          keys: [{ id: 'k', name: 'ci', prefix: 'nsk_abc', role: 'member', createdAtMs: 0, lastUsedAtMs: 0, revokedAtMs: 1 }],
        },
      },
      [/nsk_abc…\s+member\s+-\s+-\s+revoked/],
    ],
    [
      ['logs', id],
      {
        [`GET /v1/tasks/${id}/entries`]: {
          entries: [
            { seq: 1, atMs: 0, user: { origin: 'goal', parts: [{ text: 'hello\u001b[31m' }] } },
            {
              seq: 2,
              atMs: 0,
              assistant: { provider: 'p', model: 'm', blocks: [{ toolCall: { name: 'read_file', argumentsJson: '{}' } }] },
            },
            {
              seq: 3,
              atMs: 0,
              toolResult: { tool: 'read_file', outcome: 'finished', parts: [{ text: 'x' }], stored: { id: 'r', bytes: 9 } },
            },
          ],
          more: false,
        },
      },
      [/#1 .* user \(goal\)\n {2}hello \[31m/, /→ read_file/, /stored r, 9 B/],
    ],
  ];
  it.each(cases)('%j', async (args, given, expected) => {
    answers = given;
    const text = await nightshift(...args);
    for (const pattern of expected) expect(text).toMatch(pattern);
  });

  it('is the same as JSON for programs', async () => {
    answers = { [`GET /v1/tasks/${id}`]: task };
    expect(JSON.parse(await nightshift('status', id, '--json'))).toEqual(task);
  });
});

describe('passes of a task', () => {
  it('are asked for with a focus, and taken back', async () => {
    answers = { [`POST /v1/tasks/${id}/compact`]: { passId: 'p1' }, [`POST /v1/tasks/${id}/undo`]: task };
    await nightshift('compact', id, '--focus', 'the schema');
    await nightshift('undo', id);
    expect(asked.map(({ line, body }) => [line, JSON.parse(body || '{}') as unknown])).toEqual([
      [`POST /v1/tasks/${id}/compact`, { focus: 'the schema' }],
      [`POST /v1/tasks/${id}/undo`, {}],
    ]);
  });

  it('are compared by what the model is sent', async () => {
    const user = (text: string) => ({ user: { origin: 'user', parts: [{ text }] } });
    answers = {
      [`GET /v1/tasks/${id}/view`]: (request, response) => {
        const later = request.url?.endsWith('generation=2') ?? false;
        const messages = [user(later ? 'the summary' : 'the long story'), user('go on')];
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ generation: later ? 2 : 1, tokens: later ? 90 : 900, view: { system: 's', tools: [], messages } }),
        );
      },
    };
    expect(await nightshift('view', id, '--generation', '2', '--against', '1')).toBe(
      [
        '--- generation 1, 900 tokens',
        '+++ generation 2, 90 tokens',
        '- user (user)',
        '-   the long story',
        '+ user (user)',
        '+   the summary',
        '  1 message in both',
        '',
      ].join('\n'),
    );
  });
});

describe('faults', () => {
  it('carry the code and every fault of the answer', async () => {
    await expect(nightshift('status', 'x')).rejects.toMatchObject({ code: 'NOT_FOUND', faults: ['id: unknown'] });
  });

  it('say so when nothing answers', async () => {
    const program = programOf({
      api: () => new Api({ url: 'http://127.0.0.1:1', key: () => 'k' }),
      gateway: () => 'http://127.0.0.1:1',
      warn: () => undefined,
      output: { write: () => undefined, live: false, columns: 80 },
    });
    await expect(program.exitOverride().parseAsync(['node', 'n', 'tasks'])).rejects.toThrow(/is Nightshift running/);
  });
});
