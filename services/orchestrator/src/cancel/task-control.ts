import { Injectable } from '@nestjs/common';
import { NightshiftError, task } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { EventStore } from '../events/event.store';
import { Committed, ended } from '../tasks/committed';
import { count, nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { Recorded } from '../tasks/record.store';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { Wakes } from '../steps/wakes';
import { emptyReceipt } from './receipt';

const { Pending, TaskState } = task;

/** What a person does to a task: cancel, pause, resume. Each is one transaction under the row lock. */
@Injectable()
export class TaskControl {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly events: EventStore,
    private readonly committed: Committed,
    private readonly wakes: Wakes,
  ) {}

  /**
   * Commits `cancelling` for the task and everything below it: the new epoch fences whatever step is running, and the
   * wake-up makes some worker stop all parties. Asking twice changes nothing.
   */
  async cancel(team: string, id: string, reason: string): Promise<TaskRow> {
    const { row, changed } = await transaction(this.pool, async (client) => {
      const top = await this.tasks.lockKnown(client, team, id);
      const below = await descendants(client, team, id);
      const outcomes: { outcome: Outcome; recorded: Recorded }[] = [];
      for (const one of [id, ...below]) {
        const locked = one === id ? top : await this.tasks.lockKnown(client, team, one);
        if (ended(locked.state) || locked.state === TaskState.CANCELLING) continue;
        const outcome = cancelling(locked, one === id ? reason : `its parent ${id} was cancelled`, Date.now());
        const recorded = await this.committed.recordLocked(client, locked, outcome);
        if (recorded) outcomes.push({ outcome, recorded });
      }
      await client.query({
        name: 'close_passes',
        text: 'UPDATE task_checkpoints SET ended_at = now(), outcome = 7 WHERE team_id = $1 AND task_id = ANY($2::uuid[]) AND ended_at IS NULL',
        values: [team, [id, ...below]],
      });
      return { row: outcomes[0]?.recorded.row.id === id ? outcomes[0].recorded.row : top, changed: outcomes };
    });
    for (const { outcome, recorded } of changed) await this.committed.after(outcome, recorded);
    return row;
  }

  /** Pauses at the next safe point: at once where nothing runs, else before the next model call or wave of tool calls. */
  async pause(team: string, id: string): Promise<TaskRow> {
    const { row, recorded } = await transaction(this.pool, async (client) => {
      const locked = await this.tasks.lockKnown(client, team, id);
      if (locked.state === TaskState.PAUSED) return { row: locked, recorded: undefined };
      if (ended(locked.state) || locked.state === TaskState.CANCELLING) {
        throw new NightshiftError('FAILED_PRECONDITION', `task ${id} has ended: it cannot be paused`);
      }
      const idle = locked.state === TaskState.WAITING && locked.pending !== Pending.STEP;
      if (idle) {
        const done = await this.committed.recordLocked(client, locked, {
          ...nothing,
          row: { state: TaskState.PAUSED, pending: Pending.NONE, reason: 'paused by the user', pauseRequested: false },
        });
        return { row: done?.row ?? locked, recorded: done };
      }
      await client.query('UPDATE tasks SET pause_requested = true WHERE team_id = $1 AND id = $2', [team, id]);
      const lastEventSeq = await this.events.append(locked, [{ kind: 'pause_requested', data: {} }], client);
      return { row: { ...locked, pauseRequested: true, lastEventSeq }, recorded: undefined };
    });
    if (recorded) await this.committed.after(nothing, recorded);
    else this.wakes.changed(row);
    return row;
  }

  /** Goes on with a paused task, or takes back a pause that has not happened yet. */
  async resume(team: string, id: string): Promise<TaskRow> {
    const { row, recorded } = await transaction(this.pool, async (client) => {
      const locked = await this.tasks.lockKnown(client, team, id);
      if (ended(locked.state) || locked.state === TaskState.CANCELLING) {
        throw new NightshiftError('FAILED_PRECONDITION', `task ${id} has ended: it cannot be resumed`);
      }
      const lost = locked.memory.workspace === 'lost';
      if (locked.state !== TaskState.PAUSED && !lost) {
        await client.query('UPDATE tasks SET pause_requested = false WHERE team_id = $1 AND id = $2', [team, id]);
        return { row: { ...locked, pauseRequested: false }, recorded: undefined };
      }
      const done = await this.committed.recordLocked(client, locked, resumed(locked));
      return { row: done?.row ?? locked, recorded: done };
    });
    if (recorded) await this.committed.after(nothing, recorded);
    return row;
  }
}

function cancelling(row: TaskRow, reason: string, now: number): Outcome {
  const pass = row.state === TaskState.COMPACTING;
  return {
    ...nothing,
    row: { state: TaskState.CANCELLING, pending: Pending.STEP, reason: reason || 'cancelled by the user', passId: undefined },
    details: { receipt: emptyReceipt(now) },
    events: [
      { kind: 'cancel_requested', data: { reason } },
      ...(pass
        ? [{ kind: 'compaction_finished', data: { passId: row.passId, outcome: 'cancelled', generation: row.generation } }]
        : []),
    ],
    counted: pass ? [count('compaction_passes', { outcome: 'cancelled', summary: 'ok' })] : [],
  };
}

/** A person has looked: what stopped the task starts counting afresh. */
function resumed(row: TaskRow): Outcome {
  const { memory } = row;
  const spent = row.iterations >= memory.maxIterations;
  return {
    ...nothing,
    row: {
      state: TaskState.RUNNING,
      pending: Pending.STEP,
      reason: '',
      pauseRequested: false,
      memory: {
        ...memory,
        retries: 0,
        nudges: 0,
        forcedInARow: 0,
        passDue: undefined,
        breaker: { failures: 0, open: false, measuredAtFailure: 0, provider: '', model: '' },
        refill: { passesAtCalls: [], met: 0 },
        workspace: memory.workspace === 'lost' ? 'due' : memory.workspace,
        maxIterations: spent ? row.iterations + memory.maxIterations : memory.maxIterations,
      },
    },
    events: [{ kind: 'resumed', data: {} }],
  };
}

async function descendants(client: PoolClient, team: string, id: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'descendants',
    text: `WITH RECURSIVE below AS (
        SELECT id FROM tasks WHERE team_id = $1 AND parent_id = $2
        UNION ALL SELECT t.id FROM tasks t JOIN below b ON t.team_id = $1 AND t.parent_id = b.id
      ) SELECT id FROM below ORDER BY id`,
    values: [team, id],
  });
  return rows.map((row) => row.id);
}
