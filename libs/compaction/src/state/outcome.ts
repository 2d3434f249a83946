import { compaction } from '@nightshift/contracts';

export interface OutcomeInput {
  readonly before: number;
  readonly after: number;
  /** T′ */
  readonly effective: number;
  readonly committed: boolean;
  readonly summaryFailed: boolean;
  readonly pruned: boolean;
}

/** What a pass that ran to its end came to. */
export function outcomeOf(pass: OutcomeInput): compaction.PassOutcome {
  if (!pass.committed) return compaction.PassOutcome.FAILED;
  if (pass.after > pass.effective) return compaction.PassOutcome.INSUFFICIENT;
  return pass.summaryFailed || pass.pruned ? compaction.PassOutcome.DEGRADED : compaction.PassOutcome.REDUCED;
}

/** How a pass counts in the failure ratio: as a pass at all, and as a failed one. */
export function failureShare(pass: { readonly outcome: compaction.PassOutcome; readonly summaryFailed: boolean }): {
  readonly counted: boolean;
  readonly failed: boolean;
} {
  switch (pass.outcome) {
    case compaction.PassOutcome.FAILED:
    case compaction.PassOutcome.INSUFFICIENT:
      return { counted: true, failed: true };
    case compaction.PassOutcome.DEGRADED:
      return { counted: true, failed: pass.summaryFailed };
    case compaction.PassOutcome.REDUCED:
      return { counted: true, failed: false };
    case compaction.PassOutcome.CONFLICT:
    case compaction.PassOutcome.CANCELLED:
    case compaction.PassOutcome.NO_LONGER_DUE:
    case compaction.PassOutcome.UNSPECIFIED:
      return { counted: false, failed: false };
  }
}
