import { compaction, task } from '@nightshift/contracts';
import { count, nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { Figures, PassReturn, TaskRow } from '../tasks/task-row';

const { PassReason } = compaction;

/** Label of a reason in metrics and events. */
export const reasonNames = {
  [PassReason.UNSPECIFIED]: 'threshold',
  [PassReason.THRESHOLD]: 'threshold',
  [PassReason.OVERFLOW]: 'overflow',
  [PassReason.MODEL_SWITCH]: 'model_switch',
  [PassReason.MANUAL]: 'manual',
  [PassReason.SILENT_TRUNCATION]: 'silent_truncation',
  [PassReason.OUTPUT_ROOM]: 'output_room',
} as const;

/** Reasons that count towards the limit of passes without a model answer between them. */
const forcing: readonly compaction.PassReason[] = [PassReason.OVERFLOW, PassReason.SILENT_TRUNCATION, PassReason.MODEL_SWITCH];

/**
 * Parks the task for a pass. A threshold hit is counted once per crossing: not again while the measured size stays above,
 * and never for a pass that a person asked for.
 * @param back what the task returns to; absent = it runs on
 */
export function startPass(
  row: TaskRow,
  passId: string,
  reason: compaction.PassReason,
  shown: Figures,
  back?: PassReturn,
): Outcome {
  const { memory } = row;
  const crossed = !memory.over && reason !== PassReason.MANUAL;
  const { measured, threshold, effective, window, source } = shown;
  const name = reasonNames[reason];
  const hit = { kind: 'threshold_hit', data: { reason: name, measured, threshold, effective, window, source } };
  const started = { kind: 'compaction_started', data: { passId, reason: name, measured, generation: row.generation } };
  return {
    ...nothing,
    row: {
      state: task.TaskState.COMPACTING,
      pending: task.Pending.COMPACTION,
      reason: '',
      passId,
      compactRequested: reason === PassReason.MANUAL ? false : undefined,
      thresholdHits: row.thresholdHits + (crossed ? 1 : 0),
      memory: {
        ...memory,
        over: memory.over || crossed,
        passDue: undefined,
        pass: { reason, measured, back },
        forcedInARow: memory.forcedInARow + (forcing.includes(reason) ? 1 : 0),
        figures: shown,
      },
    },
    startsPass: { reason, measured },
    events: crossed ? [hit, started] : [started],
    counted: crossed ? [count('compaction_threshold_hits', { reason: name })] : [],
  };
}
