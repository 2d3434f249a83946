import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create } from '@bufbuild/protobuf';
import { startService, type RunningService } from '@nightshift/bus';
import { llm, NightshiftError, routes } from '@nightshift/contracts';
import { initTracing, type Tracing } from '@nightshift/metrics';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { errorAnswer, sse } from './scripted/answers';
import { goodStream, someDeltas } from './scripted/good-answers';
import { scriptedUpstream, type ScriptedAnswer, type ScriptedUpstream } from './scripted/upstream';
import { InternalHttp } from './http/internal-http';
import { serviceOptions } from './service-options';

/** Three secrets of different make: a usual key, a short home-made one from a file, and one in a header. */
const canaries = { env: 'sk-ant-canary-5f0c1e9a7b3d', file: 'cnry-42', header: 'Basic Y2FuYXJ5OmhlYWRlcg==' };
const nats = withNats();
const database = withDatabase();
const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-canary-'));
const seen: { where: string; text: string }[] = [];
let upstream: ScriptedUpstream;
let tracing: Tracing;
let gateway: RunningService;

/** Providers that quote the credential they got, in every place an answer has. */
function answers(number: number): ScriptedAnswer {
  const quote = `refused ${canaries.env} ${canaries.file} ${canaries.header}`;
  const kinds: ScriptedAnswer[] = [
    goodStream('openai-chat', 'fine'),
    errorAnswer(
      401,
      { error: { message: quote, code: 'invalid_api_key', type: quote, param: quote } },
      { 'x-request-id': canaries.env },
    ),
    errorAnswer(500, quote),
    { steps: [{ write: sse({ error: { message: quote } }) }] },
    { steps: [{ write: `data: {not json ${quote}\n\n` }] },
    { steps: [...someDeltas('openai-chat', 2), { wait: 20 }, { write: sse({ error: { message: quote } }) }] },
    { connection: 'reset' },
    errorAnswer(400, { error: { message: `prompt is too long: 9000 tokens > 8000 maximum ${quote}` } }),
  ];
  return kinds[number % kinds.length] as ScriptedAnswer;
}

beforeAll(async () => {
  upstream = await scriptedUpstream((_request, number) => answers(number));
  tracing = initTracing({
    service: 'provider-gateway',
    exporter: {
      export: (spans, done) => {
        for (const span of spans) note('span', [span.name, span.attributes, span.status, span.events]);
        done({ code: 0 });
      },
      shutdown: () => Promise.resolve(),
    },
  });
  const file = path.join(folder, 'nightshift.yaml');
  writeFileSync(path.join(folder, 'key'), `${canaries.file}\n`);
  writeFileSync(
    file,
    `providers:
  env: { vendor: openai, base_url: "${upstream.url}/v1", api_key_env: CANARY_KEY }
  file: { vendor: openai-compatible, base_url: "${upstream.url}/v1", api_key_file: "${path.join(folder, 'key')}" }
  header: { vendor: anthropic-compatible, base_url: "${upstream.url}", headers: { x-custom-token: "${canaries.header}" } }
  gone: { vendor: openai, base_url: "http://127.0.0.1:9/v1", api_key_env: CANARY_KEY }
`,
  );
  const environment = {
    NATS_URL: nats.url,
    DATABASE_URL: database.url,
    NIGHTSHIFT_FILE: file,
    GATEWAY_PORT: '0',
    LOG_LEVEL: 'trace',
    CANARY_KEY: canaries.env,
  };
  gateway = await startService(serviceOptions(environment, (line) => seen.push({ where: 'log', text: line })));
  gateway.bus.connection.subscribe('>', {
    callback: (_error, message) => {
      const headers = message.headers ? [...message.headers].map(([name, values]) => `${name}: ${values.join()}`).join('\n') : '';
      seen.push({ where: `message ${message.subject}`, text: `${headers}\n${Buffer.from(message.data).toString('latin1')}` });
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  await tracing?.shutdown();
  rmSync(folder, { recursive: true, force: true });
});

const note = (where: string, value: unknown): void =>
  void seen.push({ where, text: JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? Number(one) : one)) });
const noteError = (thrown: unknown): void => {
  const error = NightshiftError.from(thrown);
  note('error', {
    text: `${error.message}\n${error.stack}`,
    details: error.details,
    faults: error.faults,
    cause: String(error.cause),
  });
};

it('shows no credential in any log, error, span, metric, row, message, bucket or answer', async () => {
  let asked = 0;
  for (const provider of ['env', 'file', 'header', 'gone']) {
    for (let count = 0; count < (provider === 'gone' ? 1 : 8); count++) {
      // A model per call, so that no breaker spares the provider.
      const chain = [{ provider, model: `model-${++asked}` }];
      const view = {
        messages: [{ body: { case: 'user' as const, value: { parts: [{ kind: { case: 'text' as const, value: 'hi' } }] } } }],
      };
      const request = create(llm.CompleteRequestSchema, {
        taskId: 'canary',
        epoch: asked,
        purpose: 'turn',
        chain,
        view,
        live: true,
      });
      await gateway.bus.request(routes.llmComplete, request, { team: 'acme' }).then((reply) => note('reply', reply), noteError);
    }
    await gateway.bus
      .request(routes.providerListModels, { provider }, { team: 'acme' })
      .then((reply) => note('reply', reply), noteError);
    const port = gateway.get<InternalHttp>(InternalHttp).port;
    for (const model of ['a', 'b', 'c']) {
      const headers = {
        'ns-team': 'acme',
        'ns-format': provider === 'header' ? 'anthropic-messages' : 'openai-chat',
        'ns-chain': `${provider}/native-${model}`,
      };
      const response = await fetch(`http://127.0.0.1:${port}/internal/complete`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ model: 'x', stream: true, messages: [] }),
      });
      note('http', [...response.headers]);
      seen.push({ where: 'http', text: await response.text().catch((error: unknown) => String(error)) });
    }
  }
  note('reply', await gateway.bus.request(routes.providerStatus, {}, { team: 'acme' }));
  note('reply', await gateway.bus.request(routes.llmAttempts, { taskId: 'canary', limit: 1_000 }, { team: 'acme' }));
  seen.push({ where: 'metrics', text: await (await fetch(`${gateway.operations.url}/metrics`)).text() });
  await eventually(
    async () => (await database.pool.query('SELECT 1 FROM llm_attempts WHERE purpose = $1', ['front_door'])).rowCount,
  );
  for (const table of ['llm_calls', 'llm_attempts'])
    note(`rows of ${table}`, (await database.pool.query(`SELECT * FROM ${table}`)).rows);
  const { rows } = await database.pool.query<{ answer: Buffer | null }>('SELECT answer FROM llm_calls');
  for (const row of rows) seen.push({ where: 'answer', text: row.answer?.toString('latin1') ?? '' });
  const bucket = await gateway.bus.kv('provider_health');
  for (const key of await bucket.keys())
    seen.push({ where: 'bucket', text: Buffer.from((await bucket.get(key))?.value ?? []).toString('latin1') });

  // The test is only worth something if every sink was looked at, and the providers really got the keys.
  const kinds = new Set(seen.map((one) => one.where.split(' ')[0]));
  expect([...kinds].sort()).toEqual(
    expect.arrayContaining(['answer', 'bucket', 'error', 'http', 'log', 'message', 'metrics', 'reply', 'rows', 'span']),
  );
  const sent = JSON.stringify(upstream.requests.map((request) => request.headers));
  for (const canary of Object.values(canaries)) expect(sent).toContain(canary);

  const found = seen.flatMap((one) =>
    Object.entries(canaries).flatMap(([kind, canary]) =>
      one.text.includes(canary) ? [`${kind} in ${one.where}: ${one.text.slice(0, 300)}`] : [],
    ),
  );
  expect(found).toEqual([]);
});
