import { policyFromWire } from '@nightshift/compaction';
import type { LadderInput } from '@nightshift/compaction';
import type { compaction, transcript } from '@nightshift/contracts';
import type { PassWindows } from './windows';

/** Other limits of providers that a view must keep; the strictest of those in common use. */
const limits = { images: 100, bytes: 24_000_000, longestEdge: 8_000 } as const;

/** What the ladder gets, from what the orchestrator and the registry said. */
export function inputOf(given: {
  readonly job: compaction.Job;
  readonly entries: readonly transcript.Entry[];
  readonly windows: PassWindows;
  readonly nowMs: number;
  readonly budgetMs: number;
}): LadderInput {
  const { job, windows } = given;
  return {
    system: job.system,
    tools: job.tools,
    entries: given.entries,
    checkpoint: job.checkpoint,
    generation: job.generation,
    reason: job.reason,
    window: windows.target.unknown ? 0 : windows.target.window,
    inputMax: windows.target.inputMax,
    outputMax: windows.target.outputMax,
    maxOutput: job.maxOutputTokens,
    policy: policyFromWire(job.policy),
    measured: job.measured,
    goalAndPlan: job.goalAndPlan,
    editedFiles: job.editedFiles,
    handles: job.handles,
    focus: job.focus,
    summarizers: windows.summarizers,
    failedSummaries: { inARow: job.failedSummariesInARow, atTokens: job.failedSummaryAtTokens },
    nowMs: given.nowMs,
    limits,
    budgetMs: given.budgetMs,
  };
}
