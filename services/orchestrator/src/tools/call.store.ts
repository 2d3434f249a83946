import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { transcript } from '@nightshift/contracts';
import type { tool } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient, QueryResultRow } from '@nightshift/db';
import type { JudgedCall } from '../decide/guards';
import type { BatchCall } from '../outcomes/batch';
import { isUuid } from '../outcomes/calls';
import type { CallState } from '../tasks/outcome';

interface CallRecord extends QueryResultRow {
  call_id: string;
  provider_id: string;
  entry_seq: number;
  position: number;
  wave: number;
  tool: string;
  place: 'state' | 'runner';
  effect: number;
  state: CallState;
  arguments_json: string;
  runner: string;
  publish_count: number;
  intended_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  ms: number;
  changes: JudgedCall['changes'];
  result: Buffer | null;
}

export interface LedgerCall extends BatchCall {
  readonly entrySeq: number;
  readonly effect: tool.Effect;
  readonly runner: string;
  readonly publishCount: number;
  readonly intendedAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly changes: JudgedCall['changes'];
}

/** The effect ledger. Rows are inserted with the outcome that intends them (RecordStore). */
@Injectable()
export class CallStore {
  constructor(private readonly pool: Pool) {}

  /** The calls of the turn that stands in the given entry, in order. */
  async batch(team: string, task: string, entrySeq: number, db: Pool | PoolClient = this.pool): Promise<readonly LedgerCall[]> {
    const { rows } = await db.query<CallRecord>({
      name: 'calls_of_batch',
      text: 'SELECT * FROM tool_calls WHERE team_id = $1 AND task_id = $2 AND entry_seq = $3 ORDER BY position',
      values: [team, task, entrySeq],
    });
    return rows.map(callOf);
  }

  async find(team: string, task: string, call: string): Promise<LedgerCall | undefined> {
    if (!isUuid(task) || !isUuid(call)) return undefined;
    const { rows } = await this.pool.query<CallRecord>({
      name: 'find_call',
      text: 'SELECT * FROM tool_calls WHERE team_id = $1 AND task_id = $2 AND call_id = $3',
      values: [team, task, call],
    });
    return rows[0] && callOf(rows[0]);
  }

  /** The latest calls of the named tools, in order. */
  async ofTools(team: string, task: string, tools: readonly string[], limit: number): Promise<readonly LedgerCall[]> {
    const { rows } = await this.pool.query<CallRecord>({
      name: 'calls_of_tools',
      text: `SELECT * FROM tool_calls WHERE team_id = $1 AND task_id = $2 AND tool = ANY($3::text[])
        ORDER BY entry_seq DESC, position DESC LIMIT $4`,
      values: [team, task, tools, limit],
    });
    return rows.map(callOf).reverse();
  }

  /** In order, at most `limit`; `after` pages by the entry that holds the calls. */
  async list(team: string, task: string, after: number, limit: number): Promise<readonly LedgerCall[]> {
    const { rows } = await this.pool.query<CallRecord>(
      'SELECT * FROM tool_calls WHERE team_id = $1 AND task_id = $2 AND entry_seq > $3 ORDER BY entry_seq, position LIMIT $4',
      [team, task, after, limit],
    );
    return rows.map(callOf);
  }

  /**
   * Closes a call with its result; the first terminal result wins.
   * @returns false when it was closed before, or is unknown
   */
  async close(
    client: PoolClient,
    key: { team: string; task: string; call: string },
    closed: { state: CallState; result: transcript.ToolResult; ms: number; runner: string; changes: JudgedCall['changes'] },
  ): Promise<boolean> {
    if (!isUuid(key.call)) return false;
    const { rowCount } = await client.query({
      name: 'close_call',
      text: `UPDATE tool_calls SET state = $4, result = $5, ms = $6, runner = CASE WHEN $7 = '' THEN runner ELSE $7 END, changes = $8, ended_at = now()
        WHERE team_id = $1 AND task_id = $2 AND call_id = $3 AND state IN ('intended', 'started')`,
      values: [
        key.team,
        key.task,
        key.call,
        closed.state,
        Buffer.from(toBinary(transcript.ToolResultSchema, closed.result)),
        closed.ms,
        closed.runner,
        JSON.stringify(closed.changes),
      ],
    });
    return rowCount === 1;
  }

  /** Marks a call as started by a runner. @returns false when it is closed or was never intended */
  async start(client: PoolClient, team: string, task: string, call: string, runner: string): Promise<boolean> {
    const { rowCount } = await client.query({
      name: 'start_call',
      text: `UPDATE tool_calls SET state = 'started', runner = $4, started_at = COALESCE(started_at, now())
        WHERE team_id = $1 AND task_id = $2 AND call_id = $3 AND state IN ('intended', 'started')`,
      values: [team, task, call, runner],
    });
    return rowCount === 1;
  }

  /** Numbers the publishing of calls, so that each has a fresh message id. */
  async published(team: string, task: string, calls: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.pool.query<{ call_id: string; publish_count: number }>({
      name: 'calls_published',
      text: `UPDATE tool_calls SET publish_count = publish_count + 1
        WHERE team_id = $1 AND task_id = $2 AND call_id = ANY($3::uuid[]) AND state = 'intended' RETURNING call_id, publish_count`,
      values: [team, task, calls],
    });
    return new Map(rows.map((row) => [row.call_id, row.publish_count]));
  }
}

function callOf(record: CallRecord): LedgerCall {
  return {
    callId: record.call_id,
    providerId: record.provider_id,
    entrySeq: record.entry_seq,
    position: record.position,
    wave: record.wave,
    tool: record.tool,
    place: record.place,
    effect: record.effect,
    state: record.state,
    argumentsJson: record.arguments_json,
    runner: record.runner,
    publishCount: record.publish_count,
    intendedAt: record.intended_at.getTime(),
    startedAt: record.started_at?.getTime(),
    endedAt: record.ended_at?.getTime(),
    changes: record.changes,
    result: record.result ? fromBinary(transcript.ToolResultSchema, record.result) : undefined,
  };
}
