import { faultAction, type FaultAction } from '../config/fault-spec';
import type { FormatName } from '../config/model-spec';
import { startSimulator, type Simulator } from './simulator';

const paths: Record<FormatName, string> = {
  anthropic: '/anthropic/v1/messages',
  'openai-chat': '/openai/v1/chat/completions',
  'openai-responses': '/openai/v1/responses',
  ollama: '/ollama/api/chat',
};
const formats = Object.keys(paths) as FormatName[];

function body(format: FormatName, model: string, stream: boolean): unknown {
  if (format === 'openai-responses') return { model, stream, input: 'go' };
  const messages = [{ role: 'user', content: 'go' }];
  return format === 'anthropic' ? { model, stream, max_tokens: 1_000, messages } : { model, stream, messages };
}

interface Outcome {
  status: number;
  text: string;
  /** The connection broke instead of ending. */
  broken: boolean;
}

async function ask(simulator: Simulator, format: FormatName, model: string, stream = true, timeoutMs = 5_000): Promise<Outcome> {
  const outcome: Outcome = { status: 0, text: '', broken: false };
  try {
    const response = await fetch(simulator.url + paths[format], {
      method: 'POST',
      headers: { authorization: 'Bearer k' },
      body: JSON.stringify(body(format, model, stream)),
      signal: AbortSignal.timeout(timeoutMs),
    });
    outcome.status = response.status;
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) outcome.text += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch {
    outcome.broken = true;
  }
  return outcome;
}

const terminators: Record<FormatName, RegExp> = {
  anthropic: /"type":"message_stop"/,
  'openai-chat': /data: \[DONE\]/,
  'openai-responses': /"type":"response\.completed"/,
  ollama: /"done":true/,
};
const finished: Record<FormatName, RegExp> = {
  anthropic: /"stop_reason":"end_turn"/,
  'openai-chat': /"finish_reason":"stop"/,
  'openai-responses': /"type":"response\.completed"/,
  ollama: /"done":true/,
};

describe('a stream', () => {
  let simulator: Simulator;
  const models = new Map<string, FaultAction>();
  const model = (action: FaultAction): string => {
    const name = JSON.stringify(action);
    models.set(name, action);
    return name;
  };
  const actions = {
    cut: model({ kind: 'cut', afterDeltas: 40 }),
    early: model({ kind: 'early_end', afterDeltas: 40 }),
    unterminated: model({ kind: 'no_terminator' }),
    malformed: model({ kind: 'malformed_chunk', afterDeltas: 2 }),
    rawTail: model({ kind: 'raw_json_tail', afterDeltas: 2 }),
    errorFirst: model(faultAction.parse({ kind: 'error_in_200' })),
    errorLater: model(faultAction.parse({ kind: 'error_in_200', afterDeltas: 3, as: 'server_error' })),
    errorType: model(faultAction.parse({ kind: 'error_in_200', as: 'type_message' })),
    empty: model({ kind: 'empty_stream' }),
    emptyText: model({ kind: 'empty_text' }),
    reasoning: model({ kind: 'only_reasoning' }),
    filtered: model({ kind: 'filtered_stop' }),
    lengthZero: model({ kind: 'length_zero_output' }),
    noUsage: model({ kind: 'no_usage' }),
    reset: model({ kind: 'reset' }),
    silent: model({ kind: 'no_response' }),
    headers: model({ kind: 'headers_only' }),
    stall: model({ kind: 'stall', afterDeltas: 5, ms: 60_000 }),
    slow: model({ kind: 'slow_first_token', ms: 300 }),
    truncated: model({ kind: 'silent_truncation', servedTokens: 3 }),
  };

  beforeAll(async () => {
    const script = { name: 'text', deltas: 60 };
    const faulty = [...models].map(
      ([name, action]) => [name, { script, faults: [{ times: 'always' as const, action }] }] as const,
    );
    simulator = await startSimulator({ config: { models: { ...Object.fromEntries(faulty), good: { script } } } });
  });
  afterAll(() => simulator.stop());

  const deltas = (outcome: Outcome): number => new Set(outcome.text.match(/\bw\d+ (?=")/g)).size;

  it.each(formats)('%s: ends with its terminator', async (format) => {
    const outcome = await ask(simulator, format, 'good');
    expect([outcome.status, outcome.broken, deltas(outcome)]).toEqual([200, false, 60]);
    expect(outcome.text).toMatch(terminators[format]);
  });

  it.each(formats)('%s: cut at 40 of 60 deltas, the connection breaks', async (format) => {
    const outcome = await ask(simulator, format, actions.cut);
    expect([outcome.broken, deltas(outcome)]).toEqual([true, 40]);
  });

  it.each(formats)('%s: ended early, the connection closes in order but nothing says "done"', async (format) => {
    const outcome = await ask(simulator, format, actions.early);
    expect([outcome.broken, deltas(outcome), finished[format].test(outcome.text)]).toEqual([false, 40, false]);
  });

  it.each(formats)('%s: without its last frame', async (format) => {
    const outcome = await ask(simulator, format, actions.unterminated);
    expect([outcome.broken, deltas(outcome), terminators[format].test(outcome.text)]).toEqual([false, 60, false]);
  });

  it.each(formats)('%s: a broken chunk, then the rest', async (format) => {
    const outcome = await ask(simulator, format, actions.malformed);
    expect([deltas(outcome), outcome.text.includes('{"bad'), terminators[format].test(outcome.text)]).toEqual([60, true, true]);
  });

  it.each(formats)('%s: an error before any content', async (format) => {
    const outcome = await ask(simulator, format, actions.errorFirst);
    expect([
      outcome.status,
      deltas(outcome),
      /overloaded|server busy/.test(outcome.text),
      terminators[format].test(outcome.text),
    ]).toEqual([200, 0, true, false]);
  });

  it.each(formats)('%s: an error after three deltas', async (format) => {
    const outcome = await ask(simulator, format, actions.errorLater);
    expect([outcome.status, deltas(outcome), /error/.test(outcome.text), finished[format].test(outcome.text)]).toEqual([
      200,
      3,
      true,
      false,
    ]);
  });

  it.each(formats)('%s: opened and ended with nothing in between', async (format) => {
    const outcome = await ask(simulator, format, actions.empty);
    expect([outcome.status, outcome.broken, deltas(outcome), finished[format].test(outcome.text)]).toEqual([
      200,
      false,
      0,
      false,
    ]);
  });

  it.each(formats)('%s: an empty text ends properly', async (format) => {
    const outcome = await ask(simulator, format, actions.emptyText);
    expect([deltas(outcome), finished[format].test(outcome.text)]).toEqual([0, true]);
  });

  it.each<[FormatName, keyof typeof actions, RegExp]>([
    ['openai-chat', 'rawTail', /"w2 "[\s\S]*\n\n\{"error":\{"code":503/],
    ['openai-chat', 'errorType', /data: \{"error_type":"server_error","error_message":/],
    ['openai-chat', 'reasoning', /"reasoning_content":[\s\S]*"finish_reason":"length"/],
    ['anthropic', 'reasoning', /"thinking_delta"[\s\S]*"stop_reason":"max_tokens"/],
    ['openai-chat', 'filtered', /"finish_reason":"content_filter"/],
    ['anthropic', 'filtered', /"stop_reason":"refusal"/],
    ['openai-chat', 'lengthZero', /"finish_reason":"length"/],
    ['openai-chat', 'truncated', /"finish_reason":"stop"/],
  ])('%s: %s shows on the wire', async (format, action, pattern) => {
    expect((await ask(simulator, format, actions[action])).text).toMatch(pattern);
  });

  it('usage may be missing, and may tell of a prompt cut in silence', async () => {
    const [without, truncated] = await Promise.all([
      ask(simulator, 'anthropic', actions.noUsage, false),
      ask(simulator, 'anthropic', actions.truncated, false),
    ]);
    expect(JSON.parse(without.text)).not.toHaveProperty('usage');
    expect(JSON.parse(truncated.text)).toHaveProperty('usage.input_tokens', 3);
  });

  it('a reset comes before any byte', async () => {
    expect(await ask(simulator, 'openai-chat', actions.reset)).toEqual({ status: 0, text: '', broken: true });
  });

  it.each<[keyof typeof actions, number, number]>([
    ['silent', 0, 0],
    ['headers', 200, 0],
    ['stall', 200, 5],
  ])('%s: the client gives up first, and that is what the log says', async (action, status, count) => {
    const outcome = await ask(simulator, 'openai-chat', actions[action], true, 300);
    expect([outcome.broken, outcome.status, deltas(outcome)]).toEqual([true, status, count]);
    for (;;) {
      const line = simulator.requests().findLast((entry) => entry.model === actions[action]);
      if (line !== undefined) {
        expect(line).toMatchObject({ ended: 'client_closed', deltas: count, status });
        return;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('a slow first token is slow, and all comes', async () => {
    const started = performance.now();
    const outcome = await ask(simulator, 'openai-chat', actions.slow);
    expect(performance.now() - started).toBeGreaterThan(290);
    expect(deltas(outcome)).toBe(60);
  });

  it('not streamed, a cut breaks inside the body', async () => {
    const outcome = await ask(simulator, 'openai-chat', actions.cut, false);
    expect(outcome.broken).toBe(true);
  });
});
