import { create } from '@bufbuild/protobuf';
import {
  budgetsFor,
  loweredSpillChars,
  measure,
  outputToSend,
  policyWith,
  readChars,
  spillChars,
  thresholdFor,
} from '@nightshift/compaction';
import type { CompactionPolicy, Threshold } from '@nightshift/compaction';
import { transcript } from '@nightshift/contracts';
import type { compaction } from '@nightshift/contracts';
import type { ContextFigures } from '../decide/decide';
import type { ChainCandidate, StoredPolicy } from '../tasks/task-details';
import type { Figures, TaskRow } from '../tasks/task-row';
import type { Prepared } from './prepared';

/** Sizes of a task against the model in use, with everything they were derived from. */
export interface Context {
  readonly candidate: ChainCandidate;
  readonly window: compaction.ModelWindow;
  readonly threshold: Threshold;
  readonly figures: ContextFigures;
  readonly shown: Figures;
  /** What the request would ask for at most; 0 = the provider's default. */
  readonly maxOutput: number;
}

/**
 * Measures a task. Pure, and proportional to nothing: all sums come from the row.
 * @param row its `memory.sums` must be of the current generation
 */
export function contextOf(row: TaskRow, prepared: Prepared, candidate: ChainCandidate, window: compaction.ModelWindow): Context {
  const { memory } = row;
  const policy = storedPolicy(prepared.details.options.compaction);
  const threshold = thresholdFor({
    window: window.window,
    inputMax: window.inputMax,
    maxOutput: prepared.details.options.maxOutputTokens,
    policy,
    fixed: {
      system: prepared.systemEstimate,
      tools: prepared.toolsEstimate,
      firstMessage: memory.firstEstimate,
      goalAndPlan: prepared.goalAndPlanEstimate,
    },
  });
  const measured = measure({
    usage: boundUsage(row),
    generation: row.generation,
    provider: candidate.provider,
    model: candidate.model,
    prefixSha256: prepared.prefix,
    prefixEstimate: prepared.prefixEstimate,
    appendedEstimate: memory.usage ? memory.sums.estimate - memory.usage.viewEstimate : 0,
    messagesEstimate: memory.sums.estimate,
  });
  const maxOutput = memory.outputBudget || prepared.details.options.maxOutputTokens;
  const output = outputToSend({
    window: threshold.window,
    maxOutput,
    outputMax: window.outputMax,
    measured: measured.tokens,
    mandatory: false,
  });
  return {
    candidate,
    window,
    threshold,
    maxOutput,
    figures: {
      provider: candidate.provider,
      model: candidate.model,
      measured: measured.tokens,
      source: measured.needsConfirmation ? 'estimated' : 'reported',
      effective: threshold.effective,
      hardLimit: threshold.hardLimit,
      outputTight: output.compactFirst,
      irreducible: threshold.irreducible?.message,
      enabled: policy.enabled,
    },
    shown: {
      measured: measured.tokens,
      fixed: threshold.parts.fixed,
      threshold: threshold.threshold,
      effective: threshold.effective,
      window: threshold.window,
      source: window.source,
    },
  };
}

export function storedPolicy(stored: StoredPolicy): CompactionPolicy {
  // JSON holds no undefined, so only what a team or task really set overrides the defaults.
  return policyWith(stored);
}

/** The last usage report as the compaction core takes it. */
export function boundUsage(row: TaskRow): transcript.BoundUsage | undefined {
  const { usage } = row.memory;
  if (!usage) return undefined;
  return create(transcript.BoundUsageSchema, {
    usage: { inputTotal: usage.input, source: transcript.UsageSource.TERMINAL },
    generation: usage.generation,
    throughSeq: usage.through,
    provider: usage.provider,
    model: usage.model,
    prefixSha256: usage.prefix,
    prefixEstimate: usage.prefixEstimate,
  });
}

/** The candidate in use; a chain that got shorter falls back to its first. */
export function candidateOf(row: TaskRow, prepared: Prepared): ChainCandidate {
  const { chain } = prepared.details;
  const candidate = chain[row.chainPosition] ?? chain[0];
  return candidate ?? { provider: '', model: '', endpoint: '' };
}

/** Bounds for tool results, from what was last measured: `spill` and `read` in characters, `batch` in tokens. */
export function resultBounds(row: Pick<TaskRow, 'memory'>): { spill: number; read: number; batch: number } {
  const { figures, refill } = row.memory;
  const { room, batch } = budgetsFor({ parts: { fraction: 0, reserve: 0, room: 0, fixed: figures.fixed } }, figures.effective);
  const spill = refill.met > 0 ? loweredSpillChars : spillChars;
  return { spill, read: readChars(Math.max(0, figures.effective - figures.measured), room, spill), batch };
}
