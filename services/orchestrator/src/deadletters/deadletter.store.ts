import { Injectable } from '@nestjs/common';
import { deadletter } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { QueryResultRow } from '@nightshift/db';
import { v7 } from 'uuid';
import { isUuid } from '../outcomes/calls';
import { cleanText, storableInt, storableJson } from '../tasks/storable';

export interface DeadLetterRow {
  readonly id: string;
  readonly team: string;
  readonly taskId: string;
  readonly route: string;
  readonly subject: string;
  readonly reason: string;
  readonly deliveries: number;
  readonly state: 'waiting' | 'retried' | 'discarded';
  readonly at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface DeadLetterRecord extends QueryResultRow {
  id: string;
  team_id: string;
  task_id: string;
  route: string;
  subject: string;
  reason: string;
  deliveries: number;
  state: DeadLetterRow['state'];
  at: Date;
  headers: Record<string, string>;
  body: Buffer;
}

/** Messages that could not be handled, with their reason, until somebody decides. */
@Injectable()
export class DeadLetterStore {
  constructor(private readonly pool: Pool) {}

  /** Stream, consumer and sequence name the delivery: putting it twice is one row. @returns its id, and whether it is new */
  async put(team: string, taskId: string, letter: deadletter.PutRequest): Promise<{ id: string; fresh: boolean }> {
    const { rows } = await this.pool.query<{ id: string; fresh: boolean }>(
      `INSERT INTO dead_letters (team_id, id, stream, consumer, stream_seq, task_id, route, subject, reason, deliveries, headers, body)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       ON CONFLICT (team_id, stream, consumer, stream_seq) DO UPDATE SET reason = excluded.reason
       RETURNING id, (xmax = 0) AS fresh`,
      [
        team,
        v7(),
        cleanText(letter.stream),
        cleanText(letter.consumer),
        letter.streamSeq,
        cleanText(taskId),
        cleanText(letter.route),
        cleanText(letter.subject),
        cleanText(letter.reason.slice(0, 2_000)),
        storableInt(letter.deliveries),
        storableJson(letter.headers),
        Buffer.from(letter.body),
      ],
    );
    const row = rows[0];
    return { id: row?.id ?? '', fresh: row?.fresh ?? false };
  }

  async list(team: string, filter: { limit: number; state: string; id: string }): Promise<readonly DeadLetterRow[]> {
    if (filter.id !== '' && !isUuid(filter.id)) return [];
    const { rows } = await this.pool.query<DeadLetterRecord>(
      `SELECT * FROM dead_letters WHERE team_id = $1 AND ($2 = '' OR state = $2) AND ($3 = '' OR id::text = $3) ORDER BY id DESC LIMIT $4`,
      [team, cleanText(filter.state), filter.id, filter.limit],
    );
    return rows.map(letterOf);
  }

  /** Decides a waiting letter, once. @returns undefined when it is unknown or decided */
  async decide(team: string, id: string, state: 'retried' | 'discarded'): Promise<DeadLetterRow | undefined> {
    if (!isUuid(id)) return undefined;
    const { rows } = await this.pool.query<DeadLetterRecord>(
      `UPDATE dead_letters SET state = $3 WHERE team_id = $1 AND id = $2 AND state = 'waiting' RETURNING *`,
      [team, id, state],
    );
    return rows[0] && letterOf(rows[0]);
  }

  /** Back to waiting: the retry could not be published. */
  async undecide(team: string, id: string): Promise<void> {
    await this.pool.query(`UPDATE dead_letters SET state = 'waiting' WHERE team_id = $1 AND id = $2`, [team, id]);
  }

  async waiting(): Promise<number> {
    const { rows } = await this.pool.query<{ waiting: number }>(
      `SELECT count(*)::int AS waiting FROM dead_letters WHERE state = 'waiting'`,
    );
    return rows[0]?.waiting ?? 0;
  }
}

function letterOf(record: DeadLetterRecord): DeadLetterRow {
  return {
    id: record.id,
    team: record.team_id,
    taskId: record.task_id,
    route: record.route,
    subject: record.subject,
    reason: record.reason,
    deliveries: record.deliveries,
    state: record.state,
    at: record.at.getTime(),
    headers: record.headers,
    body: record.body,
  };
}
