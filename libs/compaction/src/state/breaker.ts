import { compaction } from '@nightshift/contracts';
import { create } from '@bufbuild/protobuf';

/** Failures in a row that open the breaker. */
const limit = 3;
/** Forced passes in a row; they ignore the breaker but must not loop either. */
export const forcedLimit = 3;

export interface PassFigures {
  readonly outcome: compaction.PassOutcome;
  /** Measured tokens that triggered the pass. */
  readonly measured: number;
  readonly before: number;
  readonly after: number;
  /** T′ */
  readonly effective: number;
  readonly provider: string;
  readonly model: string;
}

export function closedBreaker(provider = '', model = ''): compaction.BreakerState {
  return create(compaction.BreakerStateSchema, { provider, model });
}

/** m + 25 %: what a transcript must have grown to before something that failed at m is tried again. */
export function grown(measured: number, since: number): boolean {
  return measured > since + Math.floor(since / 4);
}

/** A pass is one failure at most: it failed, or saved less than 5 % of T′ and stayed above it. */
export function passFailed(pass: PassFigures): boolean {
  if (pass.outcome === compaction.PassOutcome.FAILED) return true;
  const counted =
    pass.outcome === compaction.PassOutcome.REDUCED ||
    pass.outcome === compaction.PassOutcome.DEGRADED ||
    pass.outcome === compaction.PassOutcome.INSUFFICIENT;
  return counted && (pass.before - pass.after) * 20 < pass.effective && pass.after > pass.effective;
}

/** The breaker after a pass. Three failures in a row open it; any other outcome closes it. `tripped`: it opened just now. */
export function breakerAfter(
  state: compaction.BreakerState | undefined,
  pass: PassFigures,
): { readonly state: compaction.BreakerState; readonly tripped: boolean } {
  const current = breakerFor(state, pass.provider, pass.model);
  if (!passFailed(pass)) return { state: closedBreaker(pass.provider, pass.model), tripped: false };
  const failures = current.failures + 1;
  const open = failures >= limit;
  const next = { ...current, failures, open, measuredAtFailure: pass.measured };
  return { state: create(compaction.BreakerStateSchema, next), tripped: open && !current.open };
}

/** The state that applies to a model: a change of model resets it. */
export function breakerFor(state: compaction.BreakerState | undefined, provider: string, model: string): compaction.BreakerState {
  if (!state || state.provider !== provider || state.model !== model) return closedBreaker(provider, model);
  return state;
}

/** Whether an automatic pass may start. An open breaker lets one try through after 25 % growth. */
export function breakerAllows(
  state: compaction.BreakerState | undefined,
  now: { readonly measured: number; readonly provider: string; readonly model: string },
): boolean {
  const current = breakerFor(state, now.provider, now.model);
  return !current.open || grown(now.measured, current.measuredAtFailure);
}

/** Whether one more forced pass may start after so many in a row without a model call in between that succeeded. */
export function forcedAllowed(forcedInARow: number): boolean {
  return forcedInARow < forcedLimit;
}

/** After an undo no automatic pass runs until the transcript grew by 25 % or no longer fits at all. */
export function allowedAfterUndo(input: {
  readonly measuredAtUndo: number;
  readonly measured: number;
  readonly hardLimit: number;
}): boolean {
  return grown(input.measured, input.measuredAtUndo) || input.measured > input.hardLimit;
}

/** Whether the summary tier runs: after three failures in a row only once the transcript has grown by 25 %. */
export function summaryAllowed(input: {
  readonly failedInARow: number;
  readonly failedAtTokens: number;
  readonly measured: number;
}): boolean {
  return input.failedInARow < limit || grown(input.measured, input.failedAtTokens);
}
