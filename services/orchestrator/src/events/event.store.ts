import { create } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { fromMs, task } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import type { EventDraft } from '../tasks/outcome';
import { storableInt, storableJson } from '../tasks/storable';
import type { TaskRow } from '../tasks/task-row';

/**
 * Facts about a task for readers. Numbered per task under its row lock: a sequence of the database would commit out of
 * order, and a reader that has seen 7 would miss 6.
 */
@Injectable()
export class EventStore {
  constructor(private readonly pool: Pool) {}

  /** Appends events outside of an outcome. Leaves the epoch alone. @returns the last event's seq */
  async append(
    row: Pick<TaskRow, 'teamId' | 'id'>,
    events: readonly EventDraft[],
    db: Pool | PoolClient = this.pool,
  ): Promise<number> {
    const { rows } = await db.query<{ last_event_seq: number }>({
      name: 'append_events',
      text: `WITH t AS (
          UPDATE tasks SET last_event_seq = last_event_seq + $3 WHERE team_id = $1 AND id = $2 RETURNING last_event_seq
        ), events AS (
          INSERT INTO task_events (team_id, task_id, seq, kind, data_json)
          SELECT $1, $2, t.last_event_seq - $3 + v.n, v.event->>'kind', v.event->>'data'
          FROM t, json_array_elements($4::json) WITH ORDINALITY AS v(event, n)
        ) SELECT last_event_seq FROM t`,
      values: [
        row.teamId,
        row.id,
        events.length,
        storableJson(events.map(({ kind, data }) => ({ kind, data: storableJson(data) }))),
      ],
    });
    return rows[0]?.last_event_seq ?? 0;
  }

  async after(team: string, id: string, seq: number, limit: number): Promise<{ events: task.TaskEvent[]; more: boolean }> {
    const { rows } = await this.pool.query<{ seq: number; at: Date; kind: string; data_json: string }>({
      name: 'events_after',
      text: `SELECT seq, at, kind, data_json FROM task_events
        WHERE team_id = $1 AND task_id = $2 AND seq > $3 ORDER BY seq LIMIT $4`,
      values: [team, id, storableInt(seq), limit + 1],
    });
    const events = rows.slice(0, limit).map((event) =>
      create(task.TaskEventSchema, {
        seq: event.seq,
        atMs: fromMs(event.at.getTime()),
        taskId: id,
        kind: event.kind,
        dataJson: event.data_json,
      }),
    );
    return { events, more: rows.length > limit };
  }
}
