import { isDeepStrictEqual } from 'node:util';
import { transcript, type llm, type NightshiftError } from '@nightshift/contracts';
import type { Observation } from '../core/gateway-deps';
import type { BreakerReport } from '../health/breaker-board';
import type { CaseCall } from './case-schema';

export interface CallResult {
  reply: llm.CompleteReply | undefined;
  error: NightshiftError | undefined;
  attempts: llm.Attempt[];
  /** Text that the caller was shown while the call ran. */
  shown: string;
  eventsAfterTerminal: number;
  observed: Observation[];
  breakers: BreakerReport[];
  /** Request bodies per upstream, in order. */
  sent: string[][];
  ms: number;
}

const stopNames: Readonly<Record<number, string>> = {
  [transcript.StopReason.UNSPECIFIED]: 'unspecified',
  [transcript.StopReason.END_TURN]: 'end_turn',
  [transcript.StopReason.TOOL_CALLS]: 'tool_calls',
  [transcript.StopReason.LENGTH]: 'length',
  [transcript.StopReason.CONTENT_FILTER]: 'content_filter',
  [transcript.StopReason.STOP_SEQUENCE]: 'stop_sequence',
  [transcript.StopReason.CONTEXT_WINDOW]: 'context_window',
};
const sourceNames: Readonly<Record<number, string>> = {
  [transcript.UsageSource.TERMINAL]: 'terminal',
  [transcript.UsageSource.RUNNING]: 'running',
  [transcript.UsageSource.ESTIMATED]: 'estimated',
};

/** Every difference between what a case expects and what happened; only what the case names is looked at. */
export function faultsOf({ expect }: CaseCall, result: CallResult): string[] {
  const faults: string[] = [];
  const check = (what: string, expected: unknown, actual: unknown): void => {
    if (expected === undefined || isDeepStrictEqual(expected, actual)) return;
    faults.push(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
  };
  const cause = lastCause(result.error);
  check('events after the terminal one', 0, result.eventsAfterTerminal);
  check('terminal', expect.terminal, result.reply ? 'finished' : 'failed');
  check('code', expect.code, result.error?.code ?? 'OK');
  check('class', expect.class, result.attempts.at(-1)?.outcome);
  check('rule', expect.rule, cause.rule);
  check('numbers', expect.numbers, cause.sizes ?? {});
  check(
    'retry_after_ms',
    expect.retry_after_ms,
    result.error && result.error.retryAfterMs > 0 ? result.error.retryAfterMs : (cause.retry_after_ms ?? null),
  );
  if (expect.attempts) compareAttempts(expect.attempts, result, check);
  check('text', expect.text, result.reply ? textOf(result.reply) : result.shown);
  check('stop', expect.stop, result.reply ? stopNames[result.reply.message?.stopReason ?? 0] : undefined);
  if (expect.usage) {
    const usage = usageOf(result.reply?.usage ?? result.attempts.at(-1)?.usage);
    for (const [name, value] of Object.entries(expect.usage)) check(`usage.${name}`, value, usage[name]);
  }
  check(
    'observed',
    expect.observed,
    result.observed.map(({ kind, tokens }) => ({ kind, tokens })),
  );
  for (const one of expect.breaker ?? []) {
    check(
      `breaker of ${one.provider}`,
      one.state,
      result.breakers.find((found) => found.provider === `p${one.provider}`)?.state ?? 'closed',
    );
  }
  if (expect.message_contains !== undefined && !(result.error?.message ?? '').includes(expect.message_contains)) {
    faults.push(
      `message: expected it to contain ${JSON.stringify(expect.message_contains)}, got ${JSON.stringify(result.error?.message)}`,
    );
  }
  check('chain_position', expect.chain_position, result.reply?.chainPosition ?? result.error?.details.chain_position);
  if (expect.within_ms !== undefined && result.ms > expect.within_ms)
    faults.push(`time: expected at most ${expect.within_ms} ms, took ${Math.round(result.ms)}`);
  if (
    JSON.stringify([result.error?.message, result.error?.details, result.attempts.map((one) => one.message)]).includes(
      'canary-key',
    )
  ) {
    faults.push('the key of the provider is in an error');
  }
  return faults;
}

type Check = (what: string, expected: unknown, actual: unknown) => void;
type ExpectedAttempts = NonNullable<CaseCall['expect']['attempts']>;

function compareAttempts(expected: ExpectedAttempts, result: CallResult, check: Check): void {
  const short = (list: readonly { provider: number; class: string }[]): string[] =>
    list.map((one) => `${one.provider}:${one.class}`);
  const actual = result.attempts.map((one) => ({ provider: Number(one.provider.slice(1)), class: one.outcome }));
  check('attempts', short(expected), short(actual));
  // What the servers saw, not what the ledger says.
  const seen = result.sent.map((bodies) => bodies.length);
  check(
    'requests seen by the upstreams',
    seen.map((_, index) => expected.filter((one) => one.provider === index).length),
    seen,
  );
  const nth = result.sent.map(() => 0);
  expected.forEach((one, index) => {
    const attempt = result.attempts[index];
    const place = nth[one.provider] ?? 0;
    nth[one.provider] = place + 1;
    const body = result.sent[one.provider]?.[place];
    check(`attempt ${index + 1} wait_ms`, one.wait_ms, attempt?.waitMs);
    check(`attempt ${index + 1} max_output`, one.max_output, body === undefined ? undefined : outputOf(body));
    check(`attempt ${index + 1} billed`, one.billed, {
      input: attempt?.usage?.inputTotal ?? 0,
      output: attempt?.usage?.outputTotal ?? 0,
    });
  });
}

/** The output limit of a request in any format; 0 = none. */
function outputOf(body: string): number {
  const parsed = JSON.parse(body) as Record<string, unknown> & { options?: { num_predict?: number } };
  const found = parsed.max_tokens ?? parsed.max_completion_tokens ?? parsed.max_output_tokens ?? parsed.options?.num_predict;
  return typeof found === 'number' ? found : 0;
}

function lastCause(error: NightshiftError | undefined): Record<string, unknown> {
  const causes = error?.details.causes;
  const last: unknown = Array.isArray(causes) ? causes.at(-1) : undefined;
  return typeof last === 'object' && last !== null ? (last as Record<string, unknown>) : {};
}

function textOf(reply: llm.CompleteReply): string {
  return (reply.message?.blocks ?? []).map((block) => (block.kind.case === 'text' ? block.kind.value : '')).join('');
}

function usageOf(usage: transcript.Usage | undefined): Record<string, unknown> {
  return {
    input: usage?.inputTotal ?? 0,
    cache_read: usage?.cacheRead ?? 0,
    cache_write: usage?.cacheWrite ?? 0,
    output: usage?.outputTotal ?? 0,
    reasoning: usage?.reasoning ?? 0,
    source: sourceNames[usage?.source ?? 0] ?? 'none',
    silently_truncated: usage?.silentlyTruncated ?? false,
  };
}
