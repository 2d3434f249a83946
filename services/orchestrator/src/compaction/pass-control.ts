import { Injectable } from '@nestjs/common';
import { NightshiftError, compaction, task } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { v7 } from 'uuid';
import { EventStore } from '../events/event.store';
import { startPass } from '../outcomes/start-pass';
import { Wakes } from '../steps/wakes';
import { Committed, ended } from '../tasks/committed';
import { both, count, nothing } from '../tasks/outcome';
import type { Outcome } from '../tasks/outcome';
import type { Recorded } from '../tasks/record.store';
import { cleanText } from '../tasks/storable';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';
import { activePass } from './active-pass';
import { PassStore } from './pass.store';

const { Pending, TaskState } = task;

/** Passes by hand: compact now, undo the last one. */
@Injectable()
export class PassControl {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly passes: PassStore,
    private readonly events: EventStore,
    private readonly committed: Committed,
    private readonly wakes: Wakes,
  ) {}

  /**
   * Asks for a pass at any size. A task that is not running is compacted at once and goes back to where it was; a running
   * one before its next model call.
   */
  async compact(team: string, id: string, wish: string): Promise<TaskRow> {
    const focus = cleanText(wish.slice(0, 2_000));
    const done = await transaction(
      this.pool,
      async (client): Promise<{ row: TaskRow; outcome?: Outcome; recorded?: Recorded }> => {
        const row = await this.tasks.lockKnown(client, team, id);
        refuseEnded(row, 'compacted');
        if (row.state === TaskState.COMPACTING)
          throw new NightshiftError('FAILED_PRECONDITION', `a pass of task ${id} is running already`);
        const parked = row.state === TaskState.PAUSED || (row.state === TaskState.WAITING && row.pending !== Pending.STEP);
        if (parked && !row.memory.batch) {
          const back = { state: row.state, pending: row.pending, reason: row.reason };
          const started = startPass(row, v7(), compaction.PassReason.MANUAL, row.memory.figures, back);
          const outcome = both(started, { ...nothing, details: { focus: focus } });
          const recorded = await this.committed.recordLocked(client, row, outcome);
          return { row: recorded?.row ?? row, outcome, recorded };
        }
        await client.query(
          'UPDATE tasks SET compact_requested = true, details_version = details_version + 1 WHERE team_id = $1 AND id = $2',
          [team, id],
        );
        await client.query('UPDATE task_details SET focus = $3, version = version + 1 WHERE team_id = $1 AND task_id = $2', [
          team,
          id,
          focus,
        ]);
        const lastEventSeq = await this.events.append(row, [{ kind: 'compaction_requested', data: { focus } }], client);
        return { row: { ...row, compactRequested: true, lastEventSeq, detailsVersion: row.detailsVersion + 1 } };
      },
    );
    if (done.outcome && done.recorded) await this.committed.after(done.outcome, done.recorded);
    else this.wakes.changed(done.row);
    return done.row;
  }

  /**
   * Shows again what stood before the pass in effect, as a new generation. Fences a step under way: its request was built
   * from the generation that is gone now.
   */
  async undo(team: string, id: string): Promise<TaskRow> {
    const { outcome, recorded } = await transaction(this.pool, async (client) => {
      const row = await this.tasks.lockKnown(client, team, id);
      refuseEnded(row, 'rolled back');
      if (row.state === TaskState.COMPACTING)
        throw new NightshiftError('FAILED_PRECONDITION', `a pass of task ${id} is running: cancel or await it`);
      const undoes = activePass(await this.passes.list(team, id), row.generation);
      if (undoes === 0) throw new NightshiftError('FAILED_PRECONDITION', `task ${id} has no pass to undo`);
      const generation = row.generation + 1;
      const passId = v7();
      const { memory } = row;
      await this.passes.undone(
        client,
        { team, task: id, pass: passId },
        { generation, undoes, restores: undoes - 1, measured: memory.figures.measured, lastSeq: row.lastSeq },
      );
      const undone: Outcome = {
        ...nothing,
        row: { generation, memory: { ...memory, usage: undefined, over: false, undoneAt: -1 } },
        events: [{ kind: 'compaction_undone', data: { generation, undoes } }],
        counted: [count('compaction_undos', {})],
      };
      const done = await this.committed.recordLocked(client, row, undone);
      if (!done) throw new NightshiftError('FENCED', `task ${id} moved on`);
      return { outcome: undone, recorded: done };
    });
    await this.committed.after(outcome, recorded);
    return recorded.row;
  }
}

function refuseEnded(row: TaskRow, what: string): void {
  if (ended(row.state) || row.state === TaskState.CANCELLING) {
    throw new NightshiftError('FAILED_PRECONDITION', `task ${row.id} has ended: it cannot be ${what}`);
  }
}
