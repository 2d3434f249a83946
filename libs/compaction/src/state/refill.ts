import type { transcript } from '@nightshift/contracts';
import { estimateEntry } from '../measure/estimate';

/** Serialisable; kept with the task. */
export interface RefillState {
  /** How many model calls the task had made at its last automatic passes, ascending, at most three. */
  readonly passesAtCalls: readonly number[];
  /** How often it was met: what to do next depends on it. */
  readonly met: number;
}

export type RefillAction = 'none' | 'lower_spill' | 'next_candidate' | 'pause';

/** Characters above which a result is spilled once a task refills its window rapidly. */
export const loweredSpillChars = 3_000;

export const noRefill: RefillState = { passesAtCalls: [], met: 0 };

/**
 * Rapid refill: three automatic passes within three model calls. First the spill limit is lowered and the model told; then
 * the next candidate with a larger window; then the task pauses.
 */
export function refillAfterPass(
  state: RefillState,
  pass: { readonly modelCalls: number; readonly largerCandidate: boolean },
): { readonly state: RefillState; readonly action: RefillAction } {
  const passesAtCalls = [...state.passesAtCalls, pass.modelCalls].slice(-3);
  const first = passesAtCalls[0] ?? 0;
  if (passesAtCalls.length < 3 || pass.modelCalls - first > 3)
    return { state: { passesAtCalls, met: state.met }, action: 'none' };
  const met = state.met + 1;
  const action = met === 1 ? 'lower_spill' : pass.largerCandidate && met === 2 ? 'next_candidate' : 'pause';
  // The passes that led here are used up: the next three decide whether the remedy helped.
  return { state: { passesAtCalls: [], met }, action };
}

export interface Contributor {
  readonly what: string;
  readonly tokens: number;
  readonly seq: number;
}

/** The entry that takes most of the window, for the message that says why a task was paused. */
export function largestContributor(entries: readonly transcript.Entry[]): Contributor | undefined {
  let largest: Contributor | undefined;
  for (const entry of entries) {
    const tokens = estimateEntry(entry);
    if (largest && tokens <= largest.tokens) continue;
    const what =
      entry.body.case === 'toolResult' ? `result of ${entry.body.value.tool}` : `${entry.body.case ?? 'empty'} message`;
    largest = { what, tokens, seq: entry.seq };
  }
  return largest;
}
