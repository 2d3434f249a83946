import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { crashPoint } from '@nightshift/config';
import { NightshiftError, task, transcript } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { EventStore } from '../events/event.store';
import { estimate } from '../outcomes/estimate';
import { Wakes } from '../steps/wakes';
import { Committed, ended } from '../tasks/committed';
import { nothing } from '../tasks/outcome';
import type { EntryDraft, Outcome } from '../tasks/outcome';
import { RecordStore } from '../tasks/record.store';
import type { Recorded } from '../tasks/record.store';
import { cleanText } from '../tasks/storable';
import type { TaskRow } from '../tasks/task-row';
import { TaskStore } from '../tasks/task.store';

interface Waiting {
  message_id: string;
  body: Buffer;
}

/**
 * Messages for a task. They never touch the epoch, so they cannot fence a running step; a step moves them into the
 * transcript, in order, only where no tool call is open.
 */
@Injectable()
export class Inbox {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly store: RecordStore,
    private readonly events: EventStore,
    private readonly committed: Committed,
    private readonly wakes: Wakes,
  ) {}

  /**
   * Puts a message into the inbox, and wakes the task if it waits for one.
   * @throws NightshiftError NOT_FOUND; FAILED_PRECONDITION when the task has ended
   */
  async send(team: string, id: string, messageId: string, message: transcript.UserMessage): Promise<TaskRow> {
    const { row, wake } = await transaction(this.pool, async (client) => {
      const locked = await this.tasks.lockKnown(client, team, id);
      if (ended(locked.state) || locked.state === task.TaskState.CANCELLING) {
        throw new NightshiftError('FAILED_PRECONDITION', `task ${id} has ended: it takes no more messages`);
      }
      const { rowCount } = await client.query({
        name: 'send_message',
        text: `INSERT INTO task_inbox (team_id, task_id, message_id, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
        values: [team, id, cleanText(messageId), Buffer.from(toBinary(transcript.UserMessageSchema, message))],
      });
      if (rowCount === 0) return { row: locked, wake: false };
      const lastEventSeq = await this.events.append(locked, [{ kind: 'message_received', data: { messageId } }], client);
      const waits =
        locked.state === task.TaskState.WAITING &&
        (locked.pending === task.Pending.USER || locked.pending === task.Pending.CHILD);
      if (!waits) return { row: { ...locked, lastEventSeq, inbox: true }, wake: false };
      // The epoch stays, so the publish number makes the message id a new one.
      await client.query({
        name: 'wake_waiting',
        text: `UPDATE tasks SET pending = ${task.Pending.STEP}, due_at = now() + interval '3 seconds', publish_count = publish_count + 1
          WHERE team_id = $1 AND id = $2`,
        values: [team, id],
      });
      const woken = { ...locked, lastEventSeq, inbox: true, pending: task.Pending.STEP, publishCount: locked.publishCount + 1 };
      return { row: woken, wake: true };
    });
    if (wake) await this.wakes.after(row);
    else this.wakes.changed(row);
    return row;
  }

  /** Moves every waiting message into the transcript. The caller holds the lease. */
  async deliver(row: TaskRow): Promise<TaskRow | undefined> {
    const delivered = await transaction(
      this.pool,
      async (client): Promise<{ outcome: Outcome; recorded: Recorded } | undefined> => {
        const locked = await this.tasks.lock(client, row.teamId, row.id);
        if (!locked || locked.epoch !== row.epoch) return undefined;
        const { rows } = await client.query<Waiting>({
          name: 'waiting_messages',
          text: `SELECT message_id, body FROM task_inbox WHERE team_id = $1 AND task_id = $2 AND delivered_seq IS NULL ORDER BY position`,
          values: [row.teamId, row.id],
        });
        const outcome = deliveredOutcome(rows.map(({ body }) => fromBinary(transcript.UserMessageSchema, body)));
        const recorded = await this.store.record(
          { ...outcome, row: { ...outcome.row, memory: row.memory } },
          { row: { ...row, state: locked.state, reason: locked.reason }, leased: true, keep: true, now: Date.now() },
          client,
        );
        if (!recorded) return undefined;
        crashPoint('orchestrator.delivering');
        await client.query({
          name: 'messages_delivered',
          text: `UPDATE task_inbox SET delivered_seq = d.seq FROM unnest($3::text[], $4::int[]) AS d(message_id, seq)
          WHERE team_id = $1 AND task_id = $2 AND task_inbox.message_id = d.message_id`,
          values: [row.teamId, row.id, rows.map((waiting) => waiting.message_id), recorded.entries.map(({ seq }) => seq)],
        });
        return { outcome, recorded: { ...recorded, row: { ...recorded.row, inbox: false } } };
      },
    );
    if (!delivered) return undefined;
    await this.committed.after(delivered.outcome, delivered.recorded, true);
    return delivered.recorded.row;
  }
}

function deliveredOutcome(messages: readonly transcript.UserMessage[]): Outcome {
  const entries: EntryDraft[] = messages.map((value) => {
    const body: transcript.Entry['body'] = { case: 'user', value };
    return { body, estimate: estimate(body) };
  });
  return {
    ...nothing,
    row: { state: task.TaskState.RUNNING, pending: task.Pending.STEP, reason: '' },
    entries,
    events: [{ kind: 'message_delivered', data: { count: messages.length } }],
    details: messages.some(({ origin }) => origin === transcript.UserOrigin.ANSWER) ? { question: '' } : undefined,
  };
}

/** A user message as it is stored, with its origin. */
export function userMessage(parts: readonly transcript.Part[], origin: transcript.UserOrigin): transcript.UserMessage {
  return create(transcript.UserMessageSchema, { parts: [...parts], origin });
}
