import http from 'node:http';
import { create } from '@bufbuild/protobuf';
import { parseNightshiftFile } from '@nightshift/config';
import { compaction, type llm } from '@nightshift/contracts';
import { BreakerBoard } from '../health/breaker-board';
import { ProviderSlots } from '../health/provider-slots';
import { ProviderCatalog } from '../providers/catalog';
import { goodBody, goodStream, someDeltas } from '../scripted/good-answers';
import { errorAnswer } from '../scripted/answers';
import { scriptedUpstream, type ScriptedAnswer, type ScriptedUpstream } from '../scripted/upstream';
import { createHttpClient } from '../transport/http-client';
import { InternalServer } from './internal-server';

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
  cut: boolean;
}

let upstreams: ScriptedUpstream[] = [];
let server: InternalServer;
let port = 0;
let attempts: llm.Attempt[] = [];
const client = createHttpClient();

async function start(...answers: ScriptedAnswer[][]): Promise<void> {
  upstreams = await Promise.all(answers.map((list) => scriptedUpstream(list)));
  attempts = [];
  const yaml = upstreams.map(
    (one, index) => `  p${index}: { vendor: openai-compatible, base_url: "${one.url}/v1", api_key_env: KEY }`,
  );
  const quiet = (): void => undefined;
  server = new InternalServer(
    {
      catalog: ProviderCatalog.from(parseNightshiftFile(`providers:\n${yaml.join('\n')}\n`, 'spec'), {
        KEY: 'canary-of-the-spec',
      }),
      client,
      breakers: new BreakerBoard('spec', { onTrip: quiet, onChange: quiet, onStoreFault: quiet }, Date.now),
      slots: new ProviderSlots(),
      policy: undefined,
      windowOf: () => create(compaction.ModelWindowSchema, { window: 32_000, unknown: true }),
      modelsOf: () => ['model-a', 'model-b'],
      attemptEnded: () => Promise.resolve(),
      observe: quiet,
      counters: { attempt: quiet, fallback: quiet, exhausted: quiet, silentTruncation: quiet },
      now: Date.now,
      newId: () => 'id',
      random: () => 0,
      sleep: () => Promise.resolve(),
    },
    {
      attempt: (_key, attempt) => attempts.push(attempt),
      onFault: (error) => {
        throw error;
      },
    },
  );
  port = await server.listen(0);
}
afterEach(async () => {
  await server.close();
  await Promise.all(upstreams.map((one) => one.close()));
});
afterAll(() => client.close());

function post(body: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, method: 'POST', path: '/internal/complete', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      const done = (): void =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, cut: !response.complete });
      response.on('end', done).on('error', done);
    });
    request.on('error', reject).end(body);
  });
}
const chat = { 'ns-team': 'acme', 'ns-format': 'openai-chat', 'ns-chain': 'p0/model' };
const streamed = JSON.stringify({
  model: 'model',
  stream: true,
  messages: [{ role: 'user', content: 'hi' }],
  unknown_field: 1.0,
});

it('passes request and answer through unchanged where nothing has to change', async () => {
  const answer = goodStream('openai-chat', 'one two');
  await start([answer]);
  const got = await post(streamed, chat);
  expect(upstreams[0]?.requests[0]?.body).toBe(streamed);
  expect(upstreams[0]?.requests[0]?.headers.authorization).toBe('Bearer canary-of-the-spec');
  expect(got).toMatchObject({ status: 200, body: (answer.steps?.[0] as { write: string }).write, cut: false });
  expect(attempts).toMatchObject([{ outcome: 'ok', usage: { inputTotal: 100, outputTotal: 5 } }]);
});

it('passes a whole body through, and renames the model for a candidate with another name', async () => {
  await start([goodBody('openai-chat', 'whole')]);
  const got = await post(JSON.stringify({ model: 'alias', messages: [] }), { ...chat, 'ns-chain': 'p0/real-model' });
  expect(JSON.parse(upstreams[0]?.requests[0]?.body ?? '')).toEqual({ model: 'real-model', messages: [] });
  expect(got).toMatchObject({ status: 200, body: goodBody('openai-chat', 'whole').body });
});

it('shows nothing of a candidate that failed before its first content', async () => {
  await start([errorAnswer(401, { error: { message: 'no' } })], [goodStream('openai-chat', 'second')]);
  const got = await post(streamed, { ...chat, 'ns-chain': 'p0/model, p1/model' });
  expect(got.status).toBe(200);
  expect(got.body).toContain('second');
  expect(got.body).not.toContain('"no"');
});

it('ends a stream that broke after content with the error of the dialect and a cut connection', async () => {
  await start([{ steps: [...someDeltas('openai-chat', 3), { wait: 20 }, { cut: true }] }]);
  const got = await post(streamed, chat);
  expect(got.body).toMatch(/word2 .*data: \{"error":\{"message":.*"code":"provider_truncated"\}\}\n\n$/s);
  expect(got.body).not.toContain('[DONE]');
  expect(got.cut).toBe(true);
});

it('answers an error before any content with its status, numbers and hint', async () => {
  await start([errorAnswer(429, { error: { message: 'slow' } }, { 'retry-after': '30' })]);
  const got = await post(streamed, chat);
  expect(got).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
  expect(JSON.parse(got.body)).toMatchObject({ error: { code: 'PROVIDER_RATE_LIMITED', details: { class: 'rate_limit' } } });
});

it('answers 404 with the known models where the provider does not have the one that was asked for', async () => {
  await start([errorAnswer(404, { error: { message: 'The model `x` does not exist', code: 'model_not_found' } })]);
  const got = await post(streamed, { ...chat, 'ns-chain': 'p0/x' });
  expect(got.status).toBe(404);
  expect(JSON.parse(got.body)).toMatchObject({
    error: {
      code: 'PROVIDER_NOT_FOUND',
      message: expect.stringContaining('known models: p0/model-a, p0/model-b'),
      details: { known: ['p0/model-a', 'p0/model-b'] },
    },
  });
});

it('closes the provider when the caller goes away', async () => {
  await start([{ steps: [...someDeltas('openai-chat', 1), { hang: true }] }]);
  await new Promise<void>((resolve) => {
    const request = http.request(
      { port, method: 'POST', path: '/internal/complete', headers: chat, agent: false },
      (response) => {
        response
          .once('data', () => request.destroy())
          .on('error', () => undefined)
          .on('close', () => resolve());
      },
    );
    request.on('error', () => undefined).end(streamed);
  });
  const until = Date.now() + 2_000;
  while (!upstreams[0]?.requests[0]?.closedEarly && Date.now() < until) await new Promise((resolve) => setImmediate(resolve));
  expect(upstreams[0]?.requests[0]?.closedEarly).toBe(true);
});

it("tells events as lines of JSON for a request in the platform's own form", async () => {
  await start([goodStream('openai-chat', 'one two')]);
  const body = { chain: [{ provider: 'p0', model: 'model' }], view: { messages: [{ user: { parts: [{ text: 'hi' }] } }] } };
  const got = await post(JSON.stringify(body), { 'ns-team': 'acme' });
  const events = got.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; text?: string; reply?: { provider: string } });
  expect(events.map((event) => event.text ?? event.kind)).toEqual(['one ', 'two', 'finished']);
  expect(events.at(-1)?.reply?.provider).toBe('p0');
});

it('lists every fault of a bad request', async () => {
  await start([goodStream('openai-chat', 'x')]);
  const got = await post('[]', { 'ns-format': 'soap', 'ns-chain': 'nothing' });
  expect(got.status).toBe(400);
  expect((JSON.parse(got.body) as { error: { faults: string[] } }).error.faults).toHaveLength(4);
});
