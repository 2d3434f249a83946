import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Bus } from '@nightshift/bus';
import { llm, NightshiftError, routes, transcript } from '@nightshift/contracts';
import { createLogger, createMetrics } from '@nightshift/metrics';
import { eventually, startStack, type RunningStack } from '@nightshift/testing';

/**
 * Sixteen faults of a provider, each seen from outside: what the server got, how the call ended, and how long it took.
 * The primary speaks the Anthropic format and the fallback the OpenAI one (S11 the other way round, since only there an
 * end marker may be missing). The five clocks are a tenth of their defaults, and so are the long pauses of the servers.
 */
const clocks = '{ connect_ms: 500, headers_ms: 12000, first_content_ms: 18000, idle_ms: 2500, total_ms: 90000 }';
const always = 'always' as const;
const words = { name: 'text', deltas: 60 };
const latency = { deltaChars: 8 };

interface Fault {
  action: object;
  times?: number | 'always';
  when?: object;
}
/** Every scenario has a model of its own, so that breakers and counters do not mix. */
const faults: Readonly<Record<string, Fault[]>> = {
  s01: [{ action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 2 } } }],
  s02: [{ action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 2 } }, times: always }],
  s03: [{ action: { kind: 'server_error' } }],
  s04: [{ action: { kind: 'unavailable' }, times: always }],
  s05: [{ action: { kind: 'reset' }, times: always }],
  s06: [{ action: { kind: 'no_response' }, times: always }],
  s07: [{ action: { kind: 'slow_first_token', ms: 2_000 } }],
  s08: [{ action: { kind: 'cut', afterDeltas: 40 }, times: always }],
  s09: [{ action: { kind: 'stall', afterDeltas: 5, ms: 30_000 }, times: always }],
  s10: [{ action: { kind: 'malformed_chunk', afterDeltas: 5 }, times: always }],
  s11: [{ action: { kind: 'no_terminator' }, times: always }],
  s12: [],
  s13: [{ action: { kind: 'content_filter' }, times: always }],
  s14: [{ action: { kind: 'server_error' }, times: always }],
  s15: [{ action: { kind: 'server_error' }, times: always, when: { flapping: { downMs: 900, upMs: 600 } } }],
  s16: [{ action: { kind: 'server_error' } }, { when: { request: 4 }, action: { kind: 'cut', afterDeltas: 20 } }],
};

let stack: RunningStack;
let bus: Bus;
let flapping: Promise<{ served: string[]; failed: number }>;

beforeAll(async () => {
  const primary = Object.fromEntries(
    Object.entries(faults).map(([name, list]) => {
      const format = name === 's11' ? 'openai-chat' : 'anthropic';
      const window = name === 's12' ? 2_000 : 200_000;
      return [name, { format, window, outputMax: 8_192, script: words, latency, faults: list }];
    }),
  );
  const fallback = {
    format: 'openai-chat',
    window: 200_000,
    outputMax: 8_192,
    script: { name: 'text', text: 'from the fallback' },
  };
  stack = await startStack({
    services: ['provider-gateway', 'model-registry'],
    simulator: {
      models: {
        ...primary,
        fallback,
        'fallback-of-15': fallback,
        'no-prefill': { ...fallback, format: 'anthropic', prefill: false },
      },
    },
    file: ({ base }) => `
providers:
  claude: { vendor: anthropic, base_url: "${base}/anthropic", api_key_env: SIMULATOR_KEY, clocks: ${clocks} }
  gpt: { vendor: openai, base_url: "${base}/openai/v1", api_key_env: SIMULATOR_KEY, clocks: ${clocks} }
`,
    env: { 'provider-gateway': { SIMULATOR_KEY: 'simulator-needs-no-secret' } },
  });
  const metrics = createMetrics('orchestrator');
  const logger = createLogger({ service: 'e2e', level: 'silent' });
  bus = await Bus.connect(
    { url: stack.natsUrl, service: 'orchestrator', instance: 'e2e', ackWaitMs: 5_000, onDrift: 'fail' },
    metrics,
    logger,
  );
  flapping = flapFor(60_000);
  flapping.catch(() => undefined);
});
afterAll(async () => {
  await bus?.close();
  await stack?.stop();
});

let epoch = 0;
type Init = Omit<Exclude<MessageInitShape<typeof llm.CompleteRequestSchema>, llm.CompleteRequest>, '$typeName' | '$unknown'>;
interface Seen {
  /** Model and number of requests that the server got for this call, in chain order. */
  attempts: Record<string, number>;
  code: string;
  class: string;
  text: string;
  reply: llm.CompleteReply | undefined;
  error: NightshiftError | undefined;
  ms: number;
}
interface LogLine {
  kind: string;
  model: string;
  status: number;
  ended: string;
  usage?: { input: number; output: number };
}
const requestsFor = (model: string): LogLine[] =>
  (stack.simulatorLog() as LogLine[]).filter((line) => line.kind === 'model' && line.model === model);

async function call(scenario: string, over: Init = {}): Promise<Seen> {
  const provider = scenario === 's11' ? 'gpt' : 'claude';
  const chain = over.chain ?? [
    { provider, model: scenario },
    { provider: 'gpt', model: 'fallback' },
  ];
  const models = [...new Set(chain.map((one) => one.model ?? ''))];
  const before = models.map((model) => requestsFor(model).length);
  const request = create(llm.CompleteRequestSchema, {
    taskId: scenario,
    epoch: ++epoch,
    purpose: 'turn',
    view: { messages: [{ body: { case: 'user', value: { parts: [{ kind: { case: 'text', value: 'count' } }] } } }] },
    maxOutputTokens: 1_000,
    measuredInputTokens: 20,
    ...over,
    chain,
  });
  const startedAt = performance.now();
  let reply: llm.CompleteReply | undefined;
  let error: NightshiftError | undefined;
  try {
    reply = await bus.request(routes.llmComplete, request, { team: 'e2e', deadlineMs: 60_000 });
  } catch (thrown) {
    error = NightshiftError.from(thrown);
  }
  const ms = performance.now() - startedAt;
  // The server writes its line when the connection is over, a moment after the answer.
  const attempts = await eventually(() => {
    const now = Object.fromEntries(models.map((model, index) => [model, requestsFor(model).length - (before[index] ?? 0)]));
    const sum = Object.values(now).reduce((a, b) => a + b, 0);
    return sum >= (reply?.attempts.length ?? Number(error?.details.attempts ?? 0)) ? now : undefined;
  });
  const details = error?.details as { class?: string; causes?: { class: string }[] } | undefined;
  const text = (reply?.message?.blocks ?? []).map((block) => (block.kind.case === 'text' ? block.kind.value : '')).join('');
  return { attempts, code: error?.code ?? 'OK', class: details?.causes?.at(-1)?.class ?? 'ok', text, reply, error, ms };
}

/** A caller without memory asks the flapping primary first, again and again. */
async function flapFor(ms: number): Promise<{ served: string[]; failed: number }> {
  const until = Date.now() + ms;
  const served: string[] = [];
  let failed = 0;
  while (Date.now() < until) {
    const one = await call('s15', {
      chain: [
        { provider: 'claude', model: 's15' },
        { provider: 'gpt', model: 'fallback-of-15' },
      ],
    });
    if (one.reply) served.push(one.reply.model);
    else failed++;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return { served, failed };
}

function expectTime(seen: Seen, least: number, most: number): void {
  expect(seen.ms).toBeGreaterThanOrEqual(least);
  expect(seen.ms).toBeLessThan(most);
}
const summary = ({ attempts, code, class: name, text }: Seen): object => ({ attempts, code, class: name, text });
const fromFallback = { code: 'OK', class: 'ok', text: 'from the fallback' };
const counted = Array.from({ length: 60 }, (_, index) => index + 1);

it('S01 429 with Retry-After 2: waits and asks the same provider again', async () => {
  const seen = await call('s01');
  expect(seen).toMatchObject({ attempts: { s01: 2, fallback: 0 }, code: 'OK', reply: { provider: 'claude' } });
  expectTime(seen, 1_950, 4_500);
});

it('S02 429 for ever: the retry budget, then the fallback', async () => {
  const seen = await call('s02');
  expect(summary(seen)).toEqual({ attempts: { s02: 2, fallback: 1 }, ...fromFallback });
  expectTime(seen, 1_950, 5_000);
});

it('S03 500 once: one more try', async () => {
  const seen = await call('s03');
  expect(seen).toMatchObject({ attempts: { s03: 2, fallback: 0 }, code: 'OK', reply: { provider: 'claude' } });
  expectTime(seen, 0, 3_000);
});

it('S04 503: the fallback', async () => {
  const seen = await call('s04');
  expect(summary(seen)).toEqual({ attempts: { s04: 2, fallback: 1 }, ...fromFallback });
  expectTime(seen, 0, 5_000);
});

it('S05 connection reset: the fallback', async () => {
  const seen = await call('s05');
  expect(summary(seen)).toEqual({ attempts: { s05: 2, fallback: 1 }, ...fromFallback });
  expectTime(seen, 0, 5_000);
});

it('S06 no response: the headers clock, one attempt, the fallback', async () => {
  const seen = await call('s06');
  expect(summary(seen)).toEqual({ attempts: { s06: 1, fallback: 1 }, ...fromFallback });
  expectTime(seen, 11_900, 15_000);
});

it('S07 first token after 20 s: is waited for', async () => {
  const seen = await call('s07');
  expect(seen).toMatchObject({ attempts: { s07: 1, fallback: 0 }, code: 'OK', reply: { provider: 'claude' } });
  expect(Number(seen.reply?.firstContentMs)).toBeGreaterThanOrEqual(1_950);
  expectTime(seen, 1_950, 5_000);
});

it('S08 cut at 40 of 60 deltas: an explicit error, no second provider behind shown text', async () => {
  const seen = await call('s08');
  expect(summary(seen)).toEqual({ attempts: { s08: 1, fallback: 0 }, code: 'PROVIDER_TRUNCATED', class: 'transport', text: '' });
  expectTime(seen, 0, 3_000);
});

it('S09 a stall of 30 s: the idle clock, an explicit error', async () => {
  const seen = await call('s09');
  expect(summary(seen)).toEqual({ attempts: { s09: 1, fallback: 0 }, code: 'PROVIDER_TRUNCATED', class: 'timeout', text: '' });
  expectTime(seen, 2_450, 5_000);
});

it('S10 a malformed chunk: an explicit error, nothing is skipped', async () => {
  const seen = await call('s10');
  expect(summary(seen)).toEqual({ attempts: { s10: 1, fallback: 0 }, code: 'PROVIDER_TRUNCATED', class: 'malformed', text: '' });
  expectTime(seen, 0, 3_000);
});

it('S11 no [DONE] behind a finish reason: a whole answer', async () => {
  const seen = await call('s11');
  expect(seen).toMatchObject({
    attempts: { s11: 1, fallback: 0 },
    code: 'OK',
    reply: { message: { stopReason: transcript.StopReason.END_TURN } },
  });
  expect(seen.text.match(/\d+/g)?.map(Number)).toEqual(counted);
  expectTime(seen, 0, 3_000);
});

it('S12 context overflow: in place, with numbers, and the window is learned', async () => {
  const text = 'a word or two and '.repeat(1_000);
  const seen = await call('s12', {
    view: { messages: [{ body: { case: 'user', value: { parts: [{ kind: { case: 'text', value: text } }] } } }] },
  });
  expect(summary(seen)).toEqual({ attempts: { s12: 1, fallback: 0 }, code: 'PROVIDER_OVERFLOW', class: 'overflow', text: '' });
  expect(seen.error?.details).toMatchObject({ provider: 'claude', model: 's12', chain_position: 0, sizes: { inputMax: 2_000 } });
  expectTime(seen, 0, 3_000);
  await eventually(async () => {
    const { window } = await bus.request(routes.windowResolve, { provider: 'claude', model: 's12' }, { team: 'e2e' });
    return window?.inputMax === 2_000 || window?.window === 2_000;
  });
});

it('S13 content filter: final, asked once', async () => {
  const seen = await call('s13');
  expect(summary(seen)).toEqual({
    attempts: { s13: 1, fallback: 0 },
    code: 'PROVIDER_CONTENT_FILTER',
    class: 'content_filter',
    text: '',
  });
  expectTime(seen, 0, 3_000);
});

it('S14 the fallback refuses assistant prefill: asked once, both causes in one error', async () => {
  const seen = await call('s14', {
    chain: [
      { provider: 'claude', model: 's14' },
      { provider: 'claude', model: 'no-prefill' },
    ],
    view: {
      messages: [
        { body: { case: 'user', value: { parts: [{ kind: { case: 'text', value: 'count' } }] } } },
        { body: { case: 'assistant', value: { blocks: [{ kind: { case: 'text', value: 'one two' } }] } } },
      ],
    },
  });
  expect(summary(seen)).toEqual({
    attempts: { s14: 2, 'no-prefill': 1 },
    code: 'PROVIDER_CHAIN_EXHAUSTED',
    class: 'prefill',
    text: '',
  });
  expectTime(seen, 0, 5_000);
});

it('S16 accounting: the tokens of every attempt add up', async () => {
  await call('s16');
  await call('s16');
  await call('s16');
  const lines = await eventually(() => (requestsFor('s16').length === 4 ? requestsFor('s16') : undefined));
  const { attempts } = await bus.request(routes.llmAttempts, { taskId: 's16', limit: 50 }, { team: 'e2e' });
  const rows = [...attempts].reverse();
  expect(rows.map((row) => row.outcome)).toEqual(['server', 'ok', 'ok', 'transport']);
  const complete = lines.flatMap((line, index) => (line.ended === 'complete' && line.status === 200 ? [index] : []));
  expect(complete).toEqual([1, 2]);
  for (const index of complete) {
    const { usage } = rows[index] as llm.Attempt;
    expect([usage?.inputTotal, usage?.outputTotal]).toEqual([lines[index]?.usage?.input, lines[index]?.usage?.output]);
  }
  // A refused request costs nothing; a cut one what was read and written up to there.
  expect(rows[0]?.usage).toMatchObject({ inputTotal: 0, outputTotal: 0 });
  expect(rows[3]?.usage?.inputTotal).toBe(rows[1]?.usage?.inputTotal);
  expect(rows[3]?.usage?.outputTotal).toBeGreaterThan(5);
  expect(rows[3]?.usage?.outputTotal).toBeLessThan(Number(rows[1]?.usage?.outputTotal));
  // The ledger and the metrics say the same.
  const text = await (await fetch(`${stack.operationsUrl('provider-gateway')}/metrics`)).text();
  const counted = (kind: string): number =>
    Number(new RegExp(`nightshift_provider_tokens_total\\{[^}]*model="s16",kind="${kind}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
  const sum = (of: (row: llm.Attempt) => number | undefined): number => rows.reduce((total, row) => total + (of(row) ?? 0), 0);
  expect([counted('input'), counted('output')]).toEqual([
    sum((row) => row.usage?.inputTotal),
    sum((row) => row.usage?.outputTotal),
  ]);
});

it('S15 a primary that flaps for 60 s: no more than a handful of attempts at it, and every call is answered', async () => {
  const { served, failed } = await flapping;
  expect(failed).toBe(0);
  expect(served.length).toBeGreaterThan(60);
  expect(requestsFor('s15').length).toBeLessThanOrEqual(10);
}, 90_000);
