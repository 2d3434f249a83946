import { task, transcript } from '@nightshift/contracts';
import { judge } from '../decide/guards';
import type { JudgedCall } from '../decide/guards';
import { count, nothing } from '../tasks/outcome';
import type { CallState, Outcome } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';
import { noteEntry, paused } from './answer';
import { pendingOf, planBatch, resultChars, resultEntries } from './batch';
import type { BatchCall } from './batch';

export interface BatchGiven {
  readonly row: TaskRow;
  /** All calls of the open batch, the newest results included. */
  readonly calls: readonly BatchCall[];
  readonly batchBudget: number;
  readonly changes: ReadonlyMap<string, JudgedCall['changes']>;
  readonly estimate: (body: transcript.Entry['body']) => number;
}

/**
 * How the task goes on after results came in: wait for the rest, start the next wave, or append the results in the order
 * of their calls. Undefined: nothing but the ledger changes, and the epoch stays.
 */
export function foldBatch(given: BatchGiven): Outcome | undefined {
  const { row, calls } = given;
  const batch = row.memory.batch;
  if (!batch) return undefined;
  const plan = planBatch(calls, batch.wave, given.batchBudget);
  switch (plan.kind) {
    case 'wait':
      return undefined;
    case 'dispatch':
      // A pause takes effect between two waves: the step decides.
      if (row.pauseRequested) return { ...nothing, row: { pending: task.Pending.STEP } };
      return { ...nothing, row: { pending: pendingOf(plan), memory: { ...row.memory, batch: { ...batch, wave: plan.wave } } } };
    case 'state':
    case 'spill':
      return row.pending === task.Pending.STEP ? undefined : { ...nothing, row: { pending: pendingOf(plan) } };
    case 'close':
      return closeBatch(given, plan.results);
  }
}

/** Appends the results of a batch and judges them for loops. */
export function closeBatch(given: BatchGiven, results: readonly transcript.ToolResult[]): Outcome {
  const { row, calls, estimate } = given;
  const verdict = judge(
    row.memory.guards,
    [...calls].sort((a, b) => a.position - b.position).map((call) => judged(call, given)),
  );
  const notes = verdict.notes.map(({ kind, text }) => noteEntry(given, `guard_${kind}`, text));
  const entries = [...resultEntries(results, estimate), ...notes];
  const memory = {
    ...row.memory,
    batch: undefined,
    guards: verdict.stop ? { ...verdict.guards, repeats: 0, stale: 0, failing: 0, swings: 0, told: [] } : verdict.guards,
  };
  return {
    ...nothing,
    row: { pending: task.Pending.STEP, memory, ...(verdict.stop ? paused(verdict.stop) : {}) },
    entries,
    events: [
      ...verdict.notes.map(({ kind, text }) => ({ kind: 'guard_told', data: { guard: kind, text } })),
      ...(verdict.stop ? [{ kind: 'state_changed', data: { state: 'paused', reason: verdict.stop } }] : []),
    ],
  };
}

function judged(call: BatchCall, { changes }: BatchGiven): JudgedCall {
  const text = call.result?.parts.flatMap(({ kind }) => (kind.case === 'text' ? [kind.value] : [])).join('') ?? '';
  return {
    tool: call.tool,
    argumentsJson: call.argumentsJson,
    failed: call.state !== 'finished',
    resultText: call.result?.stored?.sha256 ?? text,
    changes: changes.get(call.callId) ?? [],
  };
}

const states: Record<transcript.ToolOutcome, CallState> = {
  [transcript.ToolOutcome.UNSPECIFIED]: 'finished',
  [transcript.ToolOutcome.FINISHED]: 'finished',
  [transcript.ToolOutcome.FAILED]: 'failed',
  [transcript.ToolOutcome.UNKNOWN]: 'unknown',
  [transcript.ToolOutcome.CANCELLED]: 'cancelled',
};

export function callStateOf(result: transcript.ToolResult): CallState {
  if (result.outcome === transcript.ToolOutcome.UNSPECIFIED && result.isError) return 'failed';
  return states[result.outcome];
}

/** The event and the count of one closed call. */
export function closedCall(
  call: Pick<BatchCall, 'callId' | 'tool'>,
  result: transcript.ToolResult,
  ms: number,
): Pick<Outcome, 'events' | 'counted'> {
  const state = callStateOf(result);
  return {
    events: [
      {
        kind: 'tool_finished',
        data: { callId: call.callId, tool: call.tool, state, ms, chars: resultChars(result), stored: result.stored?.id },
      },
    ],
    counted: [count('task_tool_calls', { outcome: state === 'intended' || state === 'started' ? 'finished' : state })],
  };
}
