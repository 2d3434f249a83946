import type { compaction, transcript } from '@nightshift/contracts';
import type { FitLimits } from '../measure/fit';
import type { CompactionPolicy } from '../policy/policy';
import type { Summarizer } from './ports';

export interface LadderInput {
  readonly system: string;
  readonly tools: readonly transcript.ToolSchema[];
  /** What the current view shows, ascending: `visibleSeqs(checkpoint)`. Hidden entries may be left out. */
  readonly entries: readonly transcript.Entry[];
  /** Plain estimates as `estimateEntry` gives them, by seq; those absent are computed. */
  readonly estimates?: ReadonlyMap<number, number>;
  readonly checkpoint?: compaction.Checkpoint;
  /** Generation the pass is based on. */
  readonly generation: number;
  readonly reason: compaction.PassReason;
  /** The model that the view must fit; 0 = unknown. */
  readonly window: number;
  readonly inputMax?: number;
  readonly outputMax?: number;
  readonly maxOutput?: number;
  readonly policy?: CompactionPolicy;
  /** Measured input tokens that triggered the pass; 0 = measure by estimate. */
  readonly measured: number;
  readonly goalAndPlan: readonly compaction.Reinjected[];
  readonly editedFiles?: readonly compaction.EditedFile[];
  readonly handles?: readonly compaction.Reinjected[];
  /** What the user wants the summary to look at. */
  readonly focus?: string;
  /** In the order in which they should be asked. */
  readonly summarizers: readonly Summarizer[];
  readonly failedSummaries?: { readonly inARow: number; readonly atTokens: number };
  readonly nowMs: number;
  /** Other limits of the provider than tokens. */
  readonly limits?: FitLimits;
  /** The provider complained about images: strip them and do nothing else. */
  readonly imagesOnly?: boolean;
  /** Wall-clock budget of the pass, in milliseconds (default 300 000). */
  readonly budgetMs?: number;
}
