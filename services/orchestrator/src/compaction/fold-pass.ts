import { create } from '@bufbuild/protobuf';
import { breakerAfter, isOver, refillAfterPass } from '@nightshift/compaction';
import type { RefillAction, Threshold } from '@nightshift/compaction';
import { compaction, task } from '@nightshift/contracts';
import { noteEntry, paused } from '../outcomes/answer';
import { reasonNames } from '../outcomes/start-pass';
import { count, nothing } from '../tasks/outcome';
import type { CountDraft, EntryDraft, EventDraft, Outcome } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { estimate } from '../outcomes/estimate';

const { PassOutcome, PassReason } = compaction;

export interface PassGiven {
  readonly row: TaskRow;
  readonly finished: compaction.Finished;
  /** Resolved from the store where it did not fit the message. */
  readonly checkpoint: compaction.Checkpoint | undefined;
  /** Threshold of the model in use, by the window as of now. */
  readonly threshold: Threshold;
  readonly provider: string;
  readonly model: string;
  /** A later candidate of the chain with a larger window; -1 = none. */
  readonly largerCandidate: number;
  /** What fills the window most, for a person: "result of run_command (41 000 tokens, entry 12)". */
  readonly largest: string;
  /** From the queueing of the pass to now, in ms. */
  readonly elapsedMs: number;
}

export interface FoldedPass {
  readonly outcome: Outcome;
  readonly passOutcome: compaction.PassOutcome;
  /** What becomes the checkpoint of the next generation; absent = nothing is committed. */
  readonly checkpoint?: compaction.Checkpoint;
}

export const outcomeNames = {
  [PassOutcome.UNSPECIFIED]: 'failed',
  [PassOutcome.REDUCED]: 'reduced',
  [PassOutcome.DEGRADED]: 'degraded',
  [PassOutcome.INSUFFICIENT]: 'insufficient',
  [PassOutcome.FAILED]: 'failed',
  [PassOutcome.NO_LONGER_DUE]: 'no_longer_due',
  [PassOutcome.CONFLICT]: 'conflict',
  [PassOutcome.CANCELLED]: 'cancelled',
} as const;

const automatic: readonly compaction.PassReason[] = [PassReason.THRESHOLD, PassReason.OUTPUT_ROOM];
const reducing: readonly compaction.PassOutcome[] = [PassOutcome.REDUCED, PassOutcome.DEGRADED, PassOutcome.INSUFFICIENT];

/**
 * Folds the result of the pass that a task is parked for. The caller has checked, under the row lock, that pass and
 * generation are still the ones of the row. Hits, outcomes and breaker trips are counted here and nowhere else.
 */
export function foldPass(given: PassGiven): FoldedPass {
  const { row, finished, threshold } = given;
  const { memory } = row;
  const reason = memory.pass?.reason ?? PassReason.THRESHOLD;
  const measured = memory.pass?.measured ?? 0;
  const passOutcome = judgedOutcome(given, reason, measured);
  const commits = reducing.includes(passOutcome) && given.checkpoint !== undefined;
  const generation = row.generation + (commits ? 1 : 0);
  const checkpoint =
    commits && given.checkpoint ? create(compaction.CheckpointSchema, { ...given.checkpoint, generation }) : undefined;

  const breaker = breakerAfter(create(compaction.BreakerStateSchema, memory.breaker), {
    outcome: passOutcome,
    measured,
    before: finished.before,
    after: finished.after,
    effective: threshold.effective,
    provider: given.provider,
    model: given.model,
  });
  const refill =
    commits && automatic.includes(reason)
      ? refillAfterPass(memory.refill, { modelCalls: memory.spend.calls, largerCandidate: given.largerCandidate >= 0 })
      : { state: memory.refill, action: 'none' as const };
  const remedy = remedyOf(given, refill.action);

  const seen = checkpoint?.throughSeq === row.lastSeq && checkpoint.viewEstimate > 0;
  const { failures, open, measuredAtFailure, provider, model } = breaker.state;
  const back = memory.pass?.back;
  return {
    passOutcome,
    checkpoint,
    outcome: {
      ...nothing,
      row: {
        ...(back ? returned(row, back) : { state: task.TaskState.RUNNING, pending: task.Pending.STEP, reason: '' }),
        passId: undefined,
        generation,
        ...remedy.row,
        memory: {
          ...memory,
          pass: undefined,
          usage: commits ? undefined : memory.usage,
          sums: seen && checkpoint ? { generation, through: row.lastSeq, estimate: checkpoint.viewEstimate } : memory.sums,
          over: commits ? finished.after > threshold.effective : passOutcome === PassOutcome.NO_LONGER_DUE ? false : memory.over,
          undoneAt: commits ? 0 : memory.undoneAt,
          breaker: { failures, open, measuredAtFailure, provider, model },
          refill: refill.state,
          failedSummaries: finished.summaryFailed ? memory.failedSummaries + 1 : commits ? 0 : memory.failedSummaries,
          failedSummaryAt: finished.summaryFailed ? measured : memory.failedSummaryAt,
          figures: commits ? { ...memory.figures, measured: finished.after } : memory.figures,
        },
      },
      entries: remedy.notes,
      details: reason === PassReason.MANUAL ? { focus: '' } : undefined,
      events: [
        finishedEvent(given, passOutcome, reason, generation),
        ...(breaker.tripped ? [{ kind: 'breaker_tripped', data: { failures, measured } }] : []),
        ...remedy.events,
      ],
      counted: countsOf(given, passOutcome, breaker.tripped, refill.action !== 'none'),
      observed: [
        { metric: 'compaction_duration_seconds', value: given.elapsedMs / 1_000 },
        ...(commits
          ? ([
              { metric: 'compaction_tokens_before', value: finished.before },
              { metric: 'compaction_tokens_after', value: finished.after },
            ] as const)
          : []),
      ],
    },
  };
}

function judgedOutcome(
  { finished, checkpoint, threshold, row }: PassGiven,
  reason: compaction.PassReason,
  measured: number,
): compaction.PassOutcome {
  if (!reducing.includes(finished.outcome))
    return finished.outcome === PassOutcome.UNSPECIFIED ? PassOutcome.FAILED : finished.outcome;
  // The window grew while the pass ran: nothing needs to be hidden any more.
  if (reason === PassReason.THRESHOLD && row.memory.over && !isOver(measured, threshold)) return PassOutcome.NO_LONGER_DUE;
  if (!checkpoint || finished.after >= finished.before) return PassOutcome.FAILED;
  return finished.outcome;
}

/** Back to waiting or pausing, unless a message came in meanwhile for a task that waits for one. */
function returned(row: TaskRow, back: NonNullable<NonNullable<TaskRow['memory']['pass']>['back']>): Outcome['row'] {
  if (row.inbox && back.pending === task.Pending.USER)
    return { state: task.TaskState.WAITING, pending: task.Pending.STEP, reason: back.reason };
  if (back.pending === task.Pending.TIMER) return { state: task.TaskState.RUNNING, pending: task.Pending.STEP, reason: '' };
  return back;
}

interface Remedy {
  readonly row: Outcome['row'];
  readonly notes: readonly EntryDraft[];
  readonly events: readonly EventDraft[];
}

/** Rapid refill: spill more, then a larger window, then a person. */
function remedyOf(given: PassGiven, action: RefillAction): Remedy {
  const event = { kind: 'rapid_refill', data: { action, largest: given.largest } };
  switch (action) {
    case 'none':
      return { row: {}, notes: [], events: [] };
    case 'lower_spill': {
      const text = `The context fills up again within a few turns. Results above 3000 characters are stored now and shown as previews: read in ranges, search instead of listing, and write long output to files. Largest part: ${given.largest}.`;
      return { row: {}, notes: [noteEntry({ estimate }, 'rapid_refill', text)], events: [event] };
    }
    case 'next_candidate':
      return { row: { chainPosition: given.largerCandidate }, notes: [], events: [event] };
    case 'pause':
      return {
        row: paused(`the context fills up again within three model calls, whatever is hidden. Largest part: ${given.largest}`),
        notes: [],
        events: [event],
      };
  }
}

function finishedEvent(
  { row, finished, threshold }: PassGiven,
  outcome: compaction.PassOutcome,
  reason: compaction.PassReason,
  generation: number,
): EventDraft {
  return {
    kind: 'compaction_finished',
    data: {
      passId: row.passId,
      outcome: outcomeNames[outcome],
      reason: reasonNames[reason],
      detail: finished.reason,
      generation,
      before: finished.before,
      after: finished.after,
      ms: finished.ms,
      window: finished.window,
      threshold: threshold.threshold,
      effective: threshold.effective,
      tight: threshold.tight,
      why: threshold.why,
      summaryFailed: finished.summaryFailed,
      tiers: finished.tiers.map(({ tier, outcome: ended, before, after, ms, reason: why }) => ({
        tier,
        outcome: ended,
        before,
        after,
        ms,
        reason: why,
      })),
    },
  };
}

const tierNames = ['summary', 'micro', 'images', 'on_device', 'prune'] as const;
const tierOutcomes = ['applied', 'skipped', 'failed', 'rejected'] as const;

function countsOf({ finished }: PassGiven, outcome: compaction.PassOutcome, tripped: boolean, refilled: boolean): CountDraft[] {
  const counts = [
    count('compaction_passes', { outcome: outcomeNames[outcome], summary: finished.summaryFailed ? 'failed' : 'ok' }),
    ...finished.tiers.flatMap((report) => {
      const tier = tierNames.find((name) => name === report.tier);
      const ended = tierOutcomes.find((name) => name === report.outcome);
      return tier && ended ? [count('compaction_tier_runs', { tier, outcome: ended })] : [];
    }),
  ];
  if (reducing.includes(outcome))
    counts.push(count('compaction_tokens_saved', {}, Math.max(0, finished.before - finished.after)));
  if (tripped) counts.push(count('compaction_breaker_trips', {}));
  if (refilled) counts.push(count('compaction_rapid_refills', {}));
  if (finished.prefixBreak) counts.push(count('compaction_prefix_breaks', {}));
  return counts;
}
