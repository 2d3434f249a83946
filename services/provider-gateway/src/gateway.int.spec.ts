import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { startService, type RunningService } from '@nightshift/bus';
import { llm, routes, transcript } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { anthropicStream, chatStream, errorAnswer } from './scripted/answers';
import { scriptedUpstream, type ScriptedAnswer, type ScriptedUpstream } from './scripted/upstream';
import { serviceOptions } from './service-options';

const nats = withNats();
const database = withDatabase();
const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-gateway-'));
let primary: ScriptedUpstream;
let fallback: ScriptedUpstream;
let primaryAnswers: (number: number) => ScriptedAnswer = () => anthropicStream('hello there');
let fallbackAnswers: (number: number) => ScriptedAnswer = () => chatStream('from the fallback');
let gateway: RunningService;

beforeAll(async () => {
  primary = await scriptedUpstream((_request, number) => primaryAnswers(number));
  fallback = await scriptedUpstream((_request, number) => fallbackAnswers(number));
  const file = path.join(folder, 'nightshift.yaml');
  writeFileSync(
    file,
    `providers:
  claude: { vendor: anthropic, base_url: "${primary.url}", api_key_env: TEST_ANTHROPIC_KEY }
  gpt: { vendor: openai-compatible, base_url: "${fallback.url}/v1" }
`,
  );
  gateway = await startService(
    serviceOptions({
      NATS_URL: nats.url,
      DATABASE_URL: database.url,
      NIGHTSHIFT_FILE: file,
      GATEWAY_PORT: '0',
      LOG_LEVEL: 'silent',
      TEST_ANTHROPIC_KEY: 'sk-test-canary-1234567890',
    }),
  );
});
afterAll(async () => {
  await gateway?.stop();
  await primary?.close();
  await fallback?.close();
  rmSync(folder, { recursive: true, force: true });
});

let epoch = 0;
function request(over: Omit<Partial<llm.CompleteRequest>, '$typeName' | '$unknown'> = {}): llm.CompleteRequest {
  return create(llm.CompleteRequestSchema, {
    taskId: '0190a000-0000-7000-8000-000000000001',
    epoch: ++epoch,
    purpose: 'turn',
    chain: [
      { provider: 'claude', model: 'claude-a' },
      { provider: 'gpt', model: 'gpt-b' },
    ],
    view: {
      system: 'be brief',
      messages: [{ body: { case: 'user', value: { parts: [{ kind: { case: 'text', value: 'hi' } }] } } }],
    },
    maxOutputTokens: 1_000,
    measuredInputTokens: 20,
    ...over,
  });
}
const ask = (message: llm.CompleteRequest, signal?: AbortSignal): Promise<llm.CompleteReply> =>
  gateway.bus.request(routes.llmComplete, message, { team: 'acme', deadlineMs: 20_000, ...(signal ? { signal } : {}) });
const textOf = (reply: llm.CompleteReply): string =>
  reply.message?.blocks.map((block) => (block.kind.case === 'text' ? block.kind.value : '')).join('') ?? '';

it('answers a call over NATS with text, usage and one attempt row', async () => {
  const reply = await ask(request());
  expect(textOf(reply)).toBe('hello there');
  expect(reply.usage).toMatchObject({ inputTotal: 10, outputTotal: 2, source: transcript.UsageSource.TERMINAL });
  expect(reply).toMatchObject({ provider: 'claude', model: 'claude-a', chainPosition: 0, replayed: false });
  expect(primary.requests.at(-1)?.headers['x-api-key']).toBe('sk-test-canary-1234567890');
  // The answer does not wait for the ledger.
  const rows = await eventually(async () => {
    const found = await database.pool.query(
      'SELECT outcome, provider, input_total, output_total FROM llm_attempts WHERE epoch = $1',
      [epoch],
    );
    return found.rowCount ? found.rows : undefined;
  });
  expect(rows).toEqual([{ outcome: 'ok', provider: 'claude', input_total: 10, output_total: 2 }]);
});

it('moves to the fallback when the primary asks to wait longer than the retry budget', async () => {
  primaryAnswers = () =>
    errorAnswer(429, { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }, { 'retry-after': '60' });
  const before = primary.requests.length;
  const reply = await ask(request());
  expect(textOf(reply)).toBe('from the fallback');
  expect(reply.fallbacks.map(({ from, to, reason }) => ({ from, to, reason }))).toEqual([
    { from: 'claude/claude-a', to: 'gpt/gpt-b', reason: 'rate_limit' },
  ]);
  expect(reply.chainPosition).toBe(1);
  expect(primary.requests.length - before).toBe(1);
  // The hint holds for everybody: the next call does not ask the primary at all.
  await ask(request());
  expect(primary.requests.length - before).toBe(1);
});

it('joins a running call and replays a finished one without asking the provider again', async () => {
  fallbackAnswers = () => ({ steps: [{ wait: 200 }, ...(chatStream('slow').steps ?? [])] });
  const before = fallback.requests.length;
  const same = request({ chain: [create(llm.CandidateSchema, { provider: 'gpt', model: 'gpt-c' })] });
  const [first, second] = await Promise.all([ask(same), ask(same)]);
  const third = await ask(same);
  expect([first, second, third].map(textOf)).toEqual(['slow', 'slow', 'slow']);
  expect(third.replayed).toBe(true);
  expect(third.message?.blocks).toEqual(first.message?.blocks);
  expect(fallback.requests.length - before).toBe(1);
});

it('closes the upstream at once when the task is stopped, and reports what it cost', async () => {
  fallbackAnswers = () => ({
    steps: [
      { write: 'data: {"choices":[{"index":0,"delta":{"content":"half an answer"},"finish_reason":null}]}\n\n' },
      { hang: true },
    ],
  });
  const before = fallback.requests.length;
  const stuck = request({
    taskId: 'task-to-stop',
    chain: [create(llm.CandidateSchema, { provider: 'gpt', model: 'gpt-d' })],
    estimatedInputTokens: 50,
    live: true,
  });
  let shown = 0;
  const off = gateway.bus.subscribeLive(routes.liveDelta, { team: 'acme', task: 'task-to-stop' }, () => void shown++);
  await gateway.bus.flush();
  const answer = ask(stuck).then(
    () => 'answered',
    (error: { code: string }) => error.code,
  );
  await eventually(() => fallback.requests.length - before === 1);
  await eventually(() => shown > 0);
  off();
  const [stop] = await gateway.bus.gather(
    routes.taskStop,
    { taskId: 'task-to-stop', askedAtMs: 1n },
    { team: 'acme', waitMs: 1_000, expect: 1 },
  );
  expect(stop).toMatchObject({ party: 'provider-gateway', idle: true, stopped: 1 });
  expect(Number(stop?.tokensBilled)).toBeGreaterThanOrEqual(53);
  expect(await answer).toBe('CANCELLED');
  await eventually(() => fallback.requests.at(-1)?.closedEarly);
  // What was read and written up to there is billed, and is in the ledger.
  const attempts = await eventually(async () => {
    const reply = await gateway.bus.request(routes.llmAttempts, { taskId: 'task-to-stop', limit: 10 }, { team: 'acme' });
    return reply.attempts.length > 0 ? reply.attempts : undefined;
  });
  expect(attempts).toMatchObject([{ outcome: 'aborted', why: 'start', provider: 'gpt', number: 1, httpStatus: 200 }]);
  expect(attempts[0]?.usage).toMatchObject({ inputTotal: 50, source: transcript.UsageSource.ESTIMATED });
  expect(attempts[0]?.usage?.outputTotal).toBeGreaterThanOrEqual(3);
  expect(attempts[0]?.endedAtMs).toBeGreaterThan(Number(attempts[0]?.startedAtMs));
  await expect(ask({ ...stuck, epoch: stuck.epoch + 1000 })).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(fallback.requests.length - before).toBe(1);
});

it('names the known models when an unknown provider is asked for', async () => {
  await expect(ask(request({ chain: [create(llm.CandidateSchema, { provider: 'nope', model: 'x' })] }))).rejects.toMatchObject({
    code: 'PROVIDER_NOT_FOUND',
    details: { providers: ['claude', 'gpt'] },
  });
});

it('publishes what the model writes, coalesced, on the live subject of the task', async () => {
  fallbackAnswers = () => chatStream('one two three');
  const seen: string[] = [];
  const off = gateway.bus.subscribeLive(routes.liveDelta, { team: 'acme', task: 'task-live' }, (delta) => {
    seen.push(`${delta.restart ? '!' : ''}${delta.kind.case}:${String(delta.kind.value)}`);
  });
  await gateway.bus.flush();
  await ask(
    request({ taskId: 'task-live', live: true, chain: [create(llm.CandidateSchema, { provider: 'gpt', model: 'gpt-e' })] }),
  );
  await eventually(() => seen.map((one) => one.replace(/^!?text:/, '')).join('') === 'one two three');
  expect(seen[0]).toMatch(/^!text:/);
  off();
});
