import { classPolicies } from '../classify/error-class';
import type { Classified } from '../classify/classify';

/**
 * The short retry budget of one candidate: further waiting is the next candidate's, or the caller's. Where somebody else
 * can answer, one more try is enough; a provider that flaps would otherwise be asked again and again.
 */
export const retryBudget = { tries: 2, triesOfLast: 3, waitMs: 5_000, firstBackoffMs: 500, longestBackoffMs: 4_000 } as const;

export interface Situation {
  failure: Classified;
  contentShown: boolean;
  /** Attempts at this candidate so far, the failed one included. */
  tries: number;
  /** Waited for this candidate so far. */
  waitedMs: number;
  outputRepaired: boolean;
  reasoningDropped: boolean;
  /** Output limit of the failed request; 0 = none was sent. */
  outputSent: number;
  outputMandatory: boolean;
  /** The caller's measure of the input. */
  measured: number;
  hasNext: boolean;
  /** Until the deadline of the whole call. */
  leftMs: number;
  /** 0 to 1. */
  random: number;
}

export type NextStep =
  | { do: 'retry'; waitMs: number; why: string }
  /** The same request with another output limit (0 = without one), once. */
  | { do: 'repair_output'; maxOutput: number; why: string }
  /** The same request without reasoning blocks, once. */
  | { do: 'drop_reasoning'; why: string }
  | { do: 'next'; why: string }
  | { do: 'fail' };

/** What follows a failed attempt. Pure; the table of cases is the spec beside it. */
export function afterFailure(s: Situation): NextStep {
  const policy = classPolicies[s.failure.class];
  if (s.contentShown || s.failure.class === 'aborted') return { do: 'fail' };
  if (s.failure.class === 'signature' && !s.reasoningDropped) return { do: 'drop_reasoning', why: 'signature refused' };
  const output = repairedOutput(s);
  if (output !== undefined) return { do: 'repair_output', maxOutput: output, why: s.failure.class };
  if (policy.retry) {
    const waitMs = s.failure.waitMs ?? backoff(s.tries, s.random);
    const tries = s.hasNext ? retryBudget.tries : retryBudget.triesOfLast;
    const within = s.tries < tries && s.waitedMs + waitMs <= retryBudget.waitMs && waitMs < s.leftMs;
    if (within) return { do: 'retry', waitMs, why: s.failure.class };
  }
  return policy.next && s.hasNext ? { do: 'next', why: s.failure.class } : { do: 'fail' };
}

/** Full jitter: replicas that failed together must not come back together. */
function backoff(tries: number, random: number): number {
  return Math.round(random * Math.min(retryBudget.longestBackoffMs, retryBudget.firstBackoffMs * 2 ** (tries - 1)));
}

/**
 * The output limit with which the same request may pass, once. For a sum that is too large it is what the stated window
 * leaves beside the counted input; if that is no useful answer, the request has to be compacted instead.
 */
function repairedOutput(s: Situation): number | undefined {
  if (s.outputRepaired) return undefined;
  const { sizes, pattern } = s.failure;
  if (s.failure.class === 'output_cap') {
    // Bedrock: "lower than N", so N itself may be refused.
    const cap = sizes.outputMax === undefined ? undefined : pattern === 'bedrock-output' ? sizes.outputMax - 1 : sizes.outputMax;
    if (cap !== undefined) return cap > 0 && (s.outputSent === 0 || cap < s.outputSent) ? cap : undefined;
    if (!s.outputMandatory && s.outputSent > 0) return 0;
    return s.outputSent > 8_192 ? 8_192 : undefined;
  }
  if (s.failure.class !== 'overflow' || !s.failure.sum || sizes.window === undefined || sizes.input === undefined)
    return undefined;
  const counted = sizes.inputExactness === 'lower_bound' ? Math.max(sizes.input, s.measured) : sizes.input;
  const margin =
    sizes.inputExactness === 'lower_bound' ? Math.max(1_024, Math.floor(counted / 50)) : Math.max(64, Math.floor(counted / 100));
  const room = sizes.window - counted - margin;
  const asked = sizes.output ?? s.outputSent;
  const least = Math.min(4_096, Math.floor(sizes.window / 8), asked || Infinity);
  return room >= least && (asked === 0 || room < asked) ? room : undefined;
}
