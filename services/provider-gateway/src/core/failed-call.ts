import { NightshiftError, type ErrorCode, type llm } from '@nightshift/contracts';
import { classPolicies } from '../classify/error-class';
import type { Classified } from '../classify/classify';

/** Why one candidate did not answer. */
export interface CandidateFailure {
  candidate: llm.Candidate;
  position: number;
  /** Absent where nothing was sent: breaker open, no free slot. */
  failure?: Classified;
  skipped?: { why: 'breaker' | 'busy'; reason: string; retryAfterMs: number };
}

/**
 * The error of a call whose candidates all failed: of a single one its own class, of several one joined error with all
 * causes. Messages are the providers' own and must be scrubbed by the caller.
 */
export function failedCall(failures: readonly CandidateFailure[], contentShown: boolean): NightshiftError {
  const last = failures.at(-1);
  if (!last) return new NightshiftError('INVALID_ARGUMENT', 'the chain is empty');
  const causes = failures.map(causeOf);
  const retryAfterMs = Math.min(...failures.map((one) => one.failure?.waitMs ?? one.skipped?.retryAfterMs ?? Infinity));
  const hint = Number.isFinite(retryAfterMs) ? { retryAfterMs } : {};
  if (contentShown || failures.length === 1 || (last.failure && failsForGood(last.failure))) {
    const code = contentShown ? codeAfterContent(last.failure) : codeOf(last);
    return new NightshiftError(code, textOf(last), { ...hint, details: { ...causeOf(last), causes } });
  }
  return new NightshiftError(
    'PROVIDER_CHAIN_EXHAUSTED',
    `all ${failures.length} candidates failed: ${failures.map(textOf).join('; ')}`,
    { ...hint, details: { causes, class: 'exhausted' } },
  );
}

/** Classes that end the call where they occur: another candidate's earlier failure is not the reason. */
export function failsForGood(failure: Classified): boolean {
  return !classPolicies[failure.class].next;
}

function codeOf(one: CandidateFailure): ErrorCode {
  if (one.failure) return classPolicies[one.failure.class].code;
  return one.skipped?.why === 'busy' ? 'BUSY' : 'PROVIDER_UNAVAILABLE';
}

/** A refusal keeps its own code; everything that merely broke the stream is a truncated answer. */
function codeAfterContent(failure: Classified | undefined): ErrorCode {
  if (failure?.class === 'aborted' || failure?.class === 'overflow' || failure?.class === 'content_filter')
    return classPolicies[failure.class].code;
  return 'PROVIDER_TRUNCATED';
}

function textOf(one: CandidateFailure): string {
  const name = `${one.candidate.provider}/${one.candidate.model}`;
  if (one.failure) return `${name}: ${one.failure.class}: ${one.failure.message.slice(0, 1_000)}`;
  return `${name}: ${one.skipped?.why === 'busy' ? 'no free slot' : `circuit breaker open (${one.skipped?.reason ?? ''})`}`;
}

function causeOf(one: CandidateFailure): Record<string, unknown> {
  const base = { provider: one.candidate.provider, model: one.candidate.model, chain_position: one.position };
  if (!one.failure) return { ...base, class: one.skipped?.why, reason: one.skipped?.reason };
  const { failure } = one;
  return {
    ...base,
    class: failure.class,
    rule: failure.rule,
    code: failure.code,
    type: failure.type,
    status: failure.status,
    message: failure.message.slice(0, 1_000),
    ...(Object.keys(failure.sizes).length > 0 ? { sizes: failure.sizes } : {}),
    ...(failure.waitMs === undefined ? {} : { retry_after_ms: failure.waitMs }),
  };
}
