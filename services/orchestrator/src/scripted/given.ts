import { task } from '@nightshift/contracts';
import { newMemory } from '../tasks/task-row';
import type { Memory, TaskRow } from '../tasks/task-row';

export interface RowGiven extends Partial<Omit<TaskRow, 'memory'>> {
  readonly memory?: Partial<Memory>;
}

/** A running task in the middle of its work, for tables of examples. */
export function givenRow(over: RowGiven = {}): TaskRow {
  const { memory, ...rest } = over;
  return {
    teamId: 'team',
    id: 'task',
    parentId: undefined,
    rootId: 'task',
    state: task.TaskState.RUNNING,
    pending: task.Pending.STEP,
    reason: '',
    epoch: 3,
    dueAt: undefined,
    publishCount: 0,
    stepAttempts: 0,
    generation: 0,
    lastSeq: 5,
    lastEventSeq: 9,
    iterations: 2,
    toolCalls: 1,
    thresholdHits: 0,
    chainPosition: 0,
    passId: undefined,
    detailsVersion: 1,
    pauseRequested: false,
    compactRequested: false,
    inbox: false,
    createdAt: 0,
    updatedAt: 0,
    endedAt: undefined,
    ...rest,
    memory: { ...newMemory(100, false), ...memory },
  };
}
