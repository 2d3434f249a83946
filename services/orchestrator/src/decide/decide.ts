import { create } from '@bufbuild/protobuf';
import { allowedAfterUndo, breakerAllows, forcedAllowed, forcedLimit } from '@nightshift/compaction';
import { compaction, task } from '@nightshift/contracts';
import { planBatch } from '../outcomes/batch';
import type { BatchCall, BatchPlan } from '../outcomes/batch';
import type { TaskRow } from '../tasks/task-row';

/** Everything a step knows when it decides. No clock, no I/O: the rim gathered it. */
export interface DecideState {
  readonly row: TaskRow;
  /** Calls of the open batch; empty without one. */
  readonly calls: readonly BatchCall[];
  /** What the results of one batch may hold together, in tokens. */
  readonly batchBudget: number;
  readonly context: ContextFigures;
}

/** Sizes of the next request against the model in use. Tokens. */
export interface ContextFigures {
  /** The model the request would go to. */
  readonly provider: string;
  readonly model: string;
  readonly measured: number;
  /** `reported`: the provider's own figure plus what was appended; `estimated`: inflated estimate of everything. */
  readonly source: 'reported' | 'estimated';
  /** What the on-device tokenizer counted; absent until it was asked. */
  readonly confirmed?: number;
  readonly effective: number;
  readonly hardLimit: number;
  /** The room left would cut the answer short. */
  readonly outputTight: boolean;
  /** Names every part, its size and the smallest window that would do. */
  readonly irreducible?: string;
  /** Automatic passes are on. */
  readonly enabled: boolean;
  /** The view breaks another limit than tokens (bytes, images). */
  readonly misfit?: string;
}

export type Plan =
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'stop' }
  | { readonly kind: 'pause'; readonly reason: string }
  | { readonly kind: 'fail'; readonly reason: string }
  | { readonly kind: 'open_workspace' }
  | { readonly kind: 'batch'; readonly batch: BatchPlan }
  | { readonly kind: 'deliver' }
  /** Ask the tokenizer, then decide again. */
  | { readonly kind: 'confirm' }
  | { readonly kind: 'compact'; readonly reason: compaction.PassReason; readonly forced: boolean }
  | { readonly kind: 'complete'; readonly notes: readonly { readonly kind: string; readonly text: string }[] };

/** Turns a task gets after its iteration limit to wrap up. */
export const wrapUpTurns = 2;

const { PassReason } = compaction;
const forcedReasons: readonly compaction.PassReason[] = [PassReason.OVERFLOW, PassReason.SILENT_TRUNCATION];

/** What a task does next. The order of the questions is the order of their urgency. */
export function decideNext(state: DecideState): Plan {
  const { row } = state;
  switch (row.state) {
    case task.TaskState.COMPLETED:
    case task.TaskState.FAILED:
    case task.TaskState.CANCELLED:
      return { kind: 'none', reason: 'the task has ended' };
    case task.TaskState.CANCELLING:
      return { kind: 'stop' };
    case task.TaskState.PAUSED:
      return { kind: 'none', reason: 'the task is paused' };
    case task.TaskState.COMPACTING:
      return { kind: 'none', reason: 'a pass is running' };
    case task.TaskState.UNSPECIFIED:
    case task.TaskState.RUNNING:
    case task.TaskState.WAITING:
      return decideRunning(state);
  }
}

function decideRunning(state: DecideState): Plan {
  const { row } = state;
  const { memory } = row;
  if (row.state === task.TaskState.WAITING && row.pending === task.Pending.USER && !row.inbox) {
    return { kind: 'none', reason: 'the user has not answered' };
  }
  if (row.pauseRequested) return { kind: 'pause', reason: 'paused by the user' };
  if (memory.workspace === 'due' || memory.workspace === 'lost') return { kind: 'open_workspace' };
  if (memory.batch) {
    const batch = planBatch(state.calls, memory.batch.wave, state.batchBudget);
    return { kind: 'batch', batch };
  }
  if (row.inbox) return { kind: 'deliver' };
  if (row.iterations >= memory.maxIterations + wrapUpTurns) {
    return {
      kind: 'pause',
      reason: `the iteration limit of ${memory.maxIterations} is reached, and so are the ${wrapUpTurns} turns to wrap up`,
    };
  }
  return duePass(state) ?? { kind: 'complete', notes: wrapUpNotes(row) };
}

/** A pass, or a reason why none may run; undefined when the request can be sent as it is. */
function duePass({ row, context }: DecideState): Plan | undefined {
  const { memory } = row;
  if (context.irreducible) return { kind: 'fail', reason: `CONTEXT_IRREDUCIBLE: ${context.irreducible}` };
  if (memory.passDue !== undefined) {
    const forced = forcedReasons.includes(memory.passDue);
    if (!forced) return { kind: 'compact', reason: memory.passDue, forced: false };
    if (!context.enabled)
      return { kind: 'pause', reason: 'the provider refused the request as too long, and compaction is switched off' };
    if (forcedAllowed(memory.forcedInARow)) return { kind: 'compact', reason: memory.passDue, forced: true };
    return { kind: 'pause', reason: `the provider refuses the request as too long after ${forcedLimit} forced passes` };
  }
  if (row.compactRequested) return { kind: 'compact', reason: PassReason.MANUAL, forced: false };
  if (context.measured > context.effective) return overThreshold(row, context);
  if ((context.outputTight || context.misfit !== undefined) && context.enabled && !quiet(row, context) && !held(row, context)) {
    return { kind: 'compact', reason: context.outputTight ? PassReason.OUTPUT_ROOM : PassReason.THRESHOLD, forced: false };
  }
  return undefined;
}

function overThreshold(row: TaskRow, context: ContextFigures): Plan | undefined {
  const fits = context.measured <= context.hardLimit;
  const blocked = !context.enabled
    ? 'compaction is switched off'
    : held(row, context)
      ? `the last ${row.memory.breaker.failures} passes failed`
      : undefined;
  if (blocked !== undefined) {
    return fits ? undefined : { kind: 'pause', reason: `${context.measured} tokens do not fit the window, and ${blocked}` };
  }
  if (quiet(row, context) && fits) return undefined;
  if (context.source === 'estimated') {
    if (context.confirmed === undefined) return { kind: 'confirm' };
    if (context.confirmed <= context.effective) return undefined;
  }
  return { kind: 'compact', reason: PassReason.THRESHOLD, forced: false };
}

/** The breaker is open and the transcript has not grown by a quarter since. A change of model resets it. */
function held({ memory }: TaskRow, { measured, provider, model }: ContextFigures): boolean {
  return !breakerAllows(create(compaction.BreakerStateSchema, memory.breaker), { measured, provider, model });
}

/** After an undo no automatic pass runs until the transcript has grown by a quarter. */
function quiet({ memory }: TaskRow, { measured, hardLimit }: ContextFigures): boolean {
  return memory.undoneAt > 0 && !allowedAfterUndo({ measuredAtUndo: memory.undoneAt, measured, hardLimit });
}

function wrapUpNotes(row: TaskRow): readonly { kind: string; text: string }[] {
  const past = row.iterations - row.memory.maxIterations;
  if (past < 0) return [];
  const left = wrapUpTurns - past;
  const text = `The iteration limit of this task is reached. ${left === 1 ? 'This is the last turn' : `${left} turns are left`}: leave the workspace in a good state, then call finish, or say what is done and what is open.`;
  return [{ kind: 'iteration_limit', text }];
}
