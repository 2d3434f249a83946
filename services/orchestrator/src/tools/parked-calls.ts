import { Injectable } from '@nestjs/common';
import { task } from '@nightshift/contracts';
import type { BatchCall } from '../outcomes/batch';
import type { CallDraft } from '../tasks/outcome';
import type { TaskRow } from '../tasks/task-row';

/** A task that waits for one tool call, as it was recorded. */
export interface ParkedCall {
  readonly row: TaskRow;
  readonly call: BatchCall;
}

/** Tasks remembered; a few KB each. */
const kept = 2_000;

/**
 * Tasks that this process left waiting for the only call of a batch, so that its result is recorded by one statement instead
 * of a transaction that reads first. What is remembered is a guess: the epoch tells whether it still holds.
 */
@Injectable()
export class ParkedCalls {
  private readonly parked = new Map<string, ParkedCall>();

  /**
   * @param row as it was just recorded
   * @param calls that the same outcome intends
   */
  keep(row: TaskRow, calls: readonly CallDraft[]): void {
    const [call] = calls;
    if (row.pending !== task.Pending.TOOLS || calls.length !== 1 || call?.state !== 'intended') return;
    this.parked.set(keyOf(row.teamId, row.id), { row, call: { ...call, result: undefined } });
    const oldest = this.parked.keys().next();
    if (this.parked.size > kept && !oldest.done) this.parked.delete(oldest.value);
  }

  /** The task as it was parked for this call. Given once: what did not hold is not tried again. */
  take(team: string, id: string, callId: string): ParkedCall | undefined {
    const key = keyOf(team, id);
    const found = this.parked.get(key);
    if (found?.call.callId !== callId) return undefined;
    this.parked.delete(key);
    return found;
  }
}

function keyOf(team: string, id: string): string {
  return `${team}/${id}`;
}
