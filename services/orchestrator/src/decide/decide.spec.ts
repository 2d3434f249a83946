import { compaction, task } from '@nightshift/contracts';
import type { BatchCall } from '../outcomes/batch';
import { givenRow } from '../scripted/given';
import type { Memory, TaskRow } from '../tasks/task-row';
import { decideNext } from './decide';
import type { ContextFigures, DecideState, Plan } from './decide';

const { TaskState, Pending } = task;
const { PassReason } = compaction;

interface Given {
  readonly row?: Partial<Omit<TaskRow, 'memory'>>;
  readonly memory?: Partial<Memory>;
  readonly context?: Partial<ContextFigures>;
  readonly calls?: readonly BatchCall[];
  readonly inbox?: boolean;
}

function state(given: Given): DecideState {
  const row = givenRow({ inbox: given.inbox ?? false, ...given.row, memory: given.memory });
  const context: ContextFigures = {
    provider: 'p',
    model: 'm',
    measured: 1_000,
    source: 'reported',
    effective: 10_000,
    hardLimit: 16_000,
    outputTight: false,
    enabled: true,
    ...given.context,
  };
  return { row, calls: given.calls ?? [], batchBudget: 10_000, context };
}

const call = (over: Partial<BatchCall>): BatchCall => ({
  callId: 'a',
  providerId: 'p',
  position: 0,
  wave: 0,
  tool: 'read_file',
  place: 'runner',
  state: 'intended',
  argumentsJson: '{}',
  result: undefined,
  ...over,
});

const complete: Plan = { kind: 'complete', notes: [] };
const threshold: Plan = { kind: 'compact', reason: PassReason.THRESHOLD, forced: false };
const open = { failures: 3, open: true, measuredAtFailure: 12_000, provider: 'p', model: 'm' };

const table: readonly (readonly [rule: string, given: Given, plan: Plan])[] = [
  ['a running task below its threshold asks the model', {}, complete],
  ['exactly at the threshold is not above it', { context: { measured: 10_000 } }, complete],
  ['above the threshold by the provider’s own figure compacts', { context: { measured: 10_001 } }, threshold],
  ['an estimate alone asks the tokenizer first', { context: { measured: 10_001, source: 'estimated' } }, { kind: 'confirm' }],
  [
    'an estimate that the tokenizer does not confirm is sent',
    { context: { measured: 10_001, source: 'estimated', confirmed: 9_000 } },
    complete,
  ],
  [
    'an estimate that the tokenizer confirms compacts',
    { context: { measured: 10_001, source: 'estimated', confirmed: 10_001 } },
    threshold,
  ],
  ['an open breaker sends what still fits', { memory: { breaker: open }, context: { measured: 15_000 } }, complete],
  ['an open breaker tries again after 25 % of growth', { memory: { breaker: open }, context: { measured: 15_001 } }, threshold],
  [
    'an open breaker pauses what does not fit',
    { memory: { breaker: { ...open, measuredAtFailure: 15_000 } }, context: { measured: 16_001 } },
    { kind: 'pause', reason: '16001 tokens do not fit the window, and the last 3 passes failed' },
  ],
  ['after an undo no pass runs until it has grown', { memory: { undoneAt: 10_000 }, context: { measured: 12_500 } }, complete],
  ['after an undo a pass runs once it has grown', { memory: { undoneAt: 10_000 }, context: { measured: 12_501 } }, threshold],
  [
    'after an undo a pass runs when the window is full',
    { memory: { undoneAt: 16_000 }, context: { measured: 16_001 } },
    threshold,
  ],
  ['compaction switched off sends what fits', { context: { measured: 15_000, enabled: false } }, complete],
  [
    'compaction switched off is an explicit stop where nothing fits',
    { context: { measured: 16_001, enabled: false } },
    { kind: 'pause', reason: '16001 tokens do not fit the window, and compaction is switched off' },
  ],
  [
    'too little room for an answer compacts',
    { context: { outputTight: true } },
    { kind: 'compact', reason: PassReason.OUTPUT_ROOM, forced: false },
  ],
  ['a view that breaks another limit compacts', { context: { misfit: '21 images of 20' } }, threshold],
  [
    'a refused request forces a pass, breaker or not',
    { memory: { passDue: PassReason.OVERFLOW, breaker: open } },
    { kind: 'compact', reason: PassReason.OVERFLOW, forced: true },
  ],
  [
    'the breaker of another model holds nothing up',
    { memory: { breaker: { ...open, model: 'other' } }, context: { measured: 15_000 } },
    threshold,
  ],
  [
    'three forced passes in a row are the end of it',
    { memory: { passDue: PassReason.OVERFLOW, forcedInARow: 3 } },
    { kind: 'pause', reason: 'the provider refuses the request as too long after 3 forced passes' },
  ],
  [
    'a switch to a smaller window compacts before sending',
    { memory: { passDue: PassReason.MODEL_SWITCH } },
    { kind: 'compact', reason: PassReason.MODEL_SWITCH, forced: false },
  ],
  [
    'a pass asked for by a person runs at any size',
    { row: { compactRequested: true } },
    { kind: 'compact', reason: PassReason.MANUAL, forced: false },
  ],
  [
    'what can never fit fails once, with its sizes',
    { context: { irreducible: 'system prompt 9000' } },
    { kind: 'fail', reason: 'CONTEXT_IRREDUCIBLE: system prompt 9000' },
  ],
  ['messages are delivered before the next model call', { inbox: true }, { kind: 'deliver' }],
  [
    'messages wait while calls are open',
    { inbox: true, memory: { batch: { seq: 5, wave: 0 } }, calls: [call({ state: 'started' })] },
    { kind: 'batch', batch: { kind: 'wait' } },
  ],
  [
    'the next wave starts when the one before is closed',
    { memory: { batch: { seq: 5, wave: 0 } }, calls: [call({ state: 'finished' }), call({ callId: 'b', position: 1, wave: 1 })] },
    { kind: 'batch', batch: { kind: 'dispatch', wave: 1, callIds: ['b'] } },
  ],
  [
    'a closed batch is appended',
    { memory: { batch: { seq: 5, wave: 0 } }, calls: [call({ state: 'finished' })] },
    { kind: 'batch', batch: { kind: 'close', results: [] } },
  ],
  [
    'a pause comes before anything new starts',
    { row: { pauseRequested: true }, memory: { batch: { seq: 5, wave: 0 } }, calls: [call({})] },
    { kind: 'pause', reason: 'paused by the user' },
  ],
  [
    'a task waits for its answer',
    { row: { state: TaskState.WAITING, pending: Pending.USER } },
    { kind: 'none', reason: 'the user has not answered' },
  ],
  ['an answer wakes the task', { row: { state: TaskState.WAITING, pending: Pending.USER }, inbox: true }, { kind: 'deliver' }],
  ['a timer that is due goes on', { row: { state: TaskState.WAITING, pending: Pending.TIMER } }, complete],
  ['the workspace is opened before anything else', { memory: { workspace: 'due' }, inbox: true }, { kind: 'open_workspace' }],
  [
    'a cancelled task stops whatever it did',
    { row: { state: TaskState.CANCELLING }, inbox: true, memory: { batch: { seq: 5, wave: 0 } } },
    { kind: 'stop' },
  ],
  [
    'a paused task does nothing',
    { row: { state: TaskState.PAUSED }, inbox: true },
    { kind: 'none', reason: 'the task is paused' },
  ],
  [
    'a task under compaction does nothing',
    { row: { state: TaskState.COMPACTING }, inbox: true },
    { kind: 'none', reason: 'a pass is running' },
  ],
  [
    'an ended task does nothing',
    { row: { state: TaskState.COMPLETED }, inbox: true },
    { kind: 'none', reason: 'the task has ended' },
  ],
  [
    'the iteration limit gives two turns to wrap up',
    { row: { iterations: 100 } },
    {
      kind: 'complete',
      notes: [
        {
          kind: 'iteration_limit',
          text: 'The iteration limit of this task is reached. 2 turns are left: leave the workspace in a good state, then call finish, or say what is done and what is open.',
        },
      ],
    },
  ],
  [
    'after the wrap-up turns the task stops',
    { row: { iterations: 102 } },
    { kind: 'pause', reason: 'the iteration limit of 100 is reached, and so are the 2 turns to wrap up' },
  ],
];

describe('decideNext', () => {
  it.each(table)('%s', (_rule, given, plan) => {
    expect(decideNext(state(given))).toEqual(plan);
  });

  it('a state tool is run by the orchestrator itself', () => {
    const finish = call({ callId: 'f', tool: 'finish', place: 'state' });
    expect(decideNext(state({ memory: { batch: { seq: 5, wave: -1 } }, calls: [finish] }))).toEqual({
      kind: 'batch',
      batch: { kind: 'state', wave: 0, calls: [finish] },
    });
  });
});
