import type { Threshold } from './threshold';

/** Shares of the room that can change (Q), in tokens. Together they stay below the landing line at every window. */
export interface Budgets {
  /** Q = T′ − fixed. */
  readonly room: number;
  /** fixed + 60 % of Q: the first tier at or below it ends the ladder. */
  readonly landing: number;
  readonly tail: number;
  readonly users: number;
  readonly summary: number;
  readonly files: number;
  readonly placeholders: number;
  /** Results of one batch together. */
  readonly batch: number;
}

/**
 * @param effective T′, or a smaller figure where a forced pass has to shrink what already lies below it
 * @param minRetained what the policy wants kept: the tail grows into the slack below the landing line
 */
export function budgetsFor(threshold: Pick<Threshold, 'parts'>, effective: number, minRetained = 0): Budgets {
  const { fixed } = threshold.parts;
  const room = Math.max(0, effective - fixed);
  const users = Math.min(20_000, Math.floor(room * 0.1));
  const summary = Math.min(8_000, Math.floor(room * 0.12));
  const files = Math.min(10_000, Math.floor(room * 0.12));
  const placeholders = Math.floor(room * 0.05);
  const landing = fixed + Math.floor(room * 0.6);
  const slack = landing - fixed - users - summary - files - placeholders;
  const tail = Math.max(Math.floor(room * 0.2), Math.min(minRetained - fixed, slack));
  return { room, landing, tail, users, summary, files, placeholders, batch: Math.floor(room * 0.25) };
}
