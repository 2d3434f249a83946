import type { compaction, tool, transcript } from '@nightshift/contracts';
import type { LabelsOf, NamesOf } from '@nightshift/metrics';
import type { TaskDetails } from './task-details';
import type { TaskRow } from './task-row';

/** Columns an outcome may change. Identity, epoch and the counters that the store keeps are not among them. */
export type RowChange = Partial<
  Pick<
    TaskRow,
    | 'state'
    | 'pending'
    | 'reason'
    | 'generation'
    | 'iterations'
    | 'toolCalls'
    | 'thresholdHits'
    | 'chainPosition'
    | 'passId'
    | 'pauseRequested'
    | 'compactRequested'
    | 'memory'
  >
> & {
  /** When the sweeper looks again, in ms from now by the database clock; absent = the usual grace of what is pending. */
  readonly dueInMs?: number;
};

export interface EventDraft {
  /** One word in the past tense: see docs/events.md. */
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One row of the effect ledger, as intended. */
export interface CallDraft {
  readonly callId: string;
  readonly providerId: string;
  readonly position: number;
  readonly wave: number;
  readonly tool: string;
  /** Who performs it: the orchestrator itself, or the runner that holds the workspace. */
  readonly place: 'state' | 'runner';
  readonly effect: tool.Effect;
  readonly state: CallState;
  readonly argumentsJson: string;
  /** Set when the call is closed already (a bad call is answered without running). */
  readonly result?: transcript.ToolResult;
}

export type CallState = 'intended' | 'started' | 'finished' | 'failed' | 'unknown' | 'cancelled';

/** An entry to append; the store numbers it. */
export interface EntryDraft {
  readonly body: transcript.Entry['body'];
  readonly estimate: number;
}

/** What one step, result or user act changes: recorded by one statement, all of it or nothing. */
export interface Outcome {
  readonly row: RowChange;
  readonly entries: readonly EntryDraft[];
  readonly calls: readonly CallDraft[];
  readonly closedCalls: readonly ClosedCall[];
  readonly events: readonly EventDraft[];
  readonly details?: Partial<Omit<TaskDetails, 'version'>>;
  /** The pass that this outcome parks the task for; its id stands in the row. */
  readonly startsPass?: { readonly reason: compaction.PassReason; readonly measured: number };
  /** Metrics to count once the outcome is committed. */
  readonly counted: readonly CountDraft[];
  readonly observed?: readonly {
    readonly metric: 'compaction_duration_seconds' | 'compaction_tokens_before' | 'compaction_tokens_after';
    readonly value: number;
  }[];
}

export interface ClosedCall {
  readonly callId: string;
  readonly state: CallState;
  readonly result: transcript.ToolResult;
}

export type CountDraft = {
  readonly metric: NamesOf<'counter'>;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** A counter to raise once the outcome is committed. */
export function count<K extends NamesOf<'counter'>>(metric: K, labels: LabelsOf<K>, value = 1): CountDraft {
  return { metric, labels: labels as Readonly<Record<string, string>>, value };
}

/** An outcome that changes nothing yet. */
export const nothing: Outcome = { row: {}, entries: [], calls: [], closedCalls: [], events: [], counted: [] };

/** The later outcome on top of the earlier one; row changes of the later one win. */
export function both(earlier: Outcome, later: Outcome): Outcome {
  return {
    row: { ...earlier.row, ...later.row },
    entries: [...earlier.entries, ...later.entries],
    calls: [...earlier.calls, ...later.calls],
    closedCalls: [...earlier.closedCalls, ...later.closedCalls],
    events: [...earlier.events, ...later.events],
    details: earlier.details || later.details ? { ...earlier.details, ...later.details } : undefined,
    startsPass: later.startsPass ?? earlier.startsPass,
    counted: [...earlier.counted, ...later.counted],
    observed: [...(earlier.observed ?? []), ...(later.observed ?? [])],
  };
}
