import { fromBinary } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { transcript } from '@nightshift/contracts';
import type { tool } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient, QueryResultRow } from '@nightshift/db';
import type { JudgedCall } from '../decide/guards';
import type { BatchCall } from '../outcomes/batch';
import { isUuid } from '../outcomes/calls';
import type { CallState } from '../tasks/outcome';
import { cleanText, storableInt } from '../tasks/storable';
import type { TaskRow } from '../tasks/task-row';
import { rowOf, taskColumns } from '../tasks/task-sql';
import type { TaskRecord } from '../tasks/task-sql';
import { ledgerValues } from './closing-values';
import { seenFiles } from './file-sql';

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

export interface Closing {
  readonly state: CallState;
  readonly result: transcript.ToolResult;
  readonly ms: number;
  readonly runner: string;
  readonly changes: JudgedCall['changes'];
}

export interface ClaimedCall {
  readonly tool: string;
  readonly argumentsJson: string;
  readonly row: TaskRow;
  /** What the model has read or written so far, as committed with the calls before this one. */
  readonly seen: readonly Pick<tool.SeenFile, 'path' | 'sha256' | 'readGeneration' | 'readInWhole'>[];
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
      [team, task, storableInt(after), limit],
    );
    return rows.map(callOf);
  }

  /**
   * Closes a call with its result; the first terminal result wins.
   * @returns all calls of its batch with this one closed; undefined when it was closed before
   */
  async close(
    client: PoolClient,
    team: string,
    task: string,
    call: LedgerCall,
    closed: Closing,
  ): Promise<readonly LedgerCall[] | undefined> {
    const { rows } = await client.query<CallRecord & { closed: boolean }>({
      name: 'close_call',
      text: `WITH closed AS (
          UPDATE tool_calls SET state = $4, result = $5, ms = $6, runner = CASE WHEN $7 = '' THEN runner ELSE $7 END, changes = $8, ended_at = now()
          WHERE team_id = $1 AND task_id = $2 AND call_id = $3 AND state IN ('intended', 'started') RETURNING call_id
        ) SELECT tool_calls.*, tool_calls.call_id IN (SELECT call_id FROM closed) AS closed FROM tool_calls
        WHERE team_id = $1 AND task_id = $2 AND entry_seq = $9 ORDER BY position`,
      values: [team, task, call.callId, ...ledgerValues(closed), call.entrySeq],
    });
    if (!rows.some((row) => row.closed)) return undefined;
    const { state, result, changes } = closed;
    // The statement sees its own rows as they were before it.
    return rows.map((row) => (row.closed ? { ...callOf(row), state, result, changes } : callOf(row)));
  }

  /**
   * Marks a call as started by a runner, and says so to readers; the last check before an effect. Locks the task's row:
   * a cancel that committed first is seen, one that comes later stops the runner by its signal.
   * @returns undefined when the call is closed or unknown, or its task was stopped
   */
  async claim(team: string, task: string, call: string, runner: string): Promise<ClaimedCall | undefined> {
    if (!isUuid(task) || !isUuid(call)) return undefined;
    const { rows } = await this.pool.query<
      TaskRecord & { tool: string; arguments_json: string; seen: ClaimedCall['seen'] | null }
    >({
      name: 'claim_call',
      text: `WITH locked AS (
          SELECT id FROM tasks WHERE team_id = $1 AND id = $2 AND state NOT IN (5, 6, 7, 8) FOR UPDATE
        ), started AS (
          UPDATE tool_calls SET state = 'started', runner = $4, started_at = COALESCE(started_at, now())
          FROM locked WHERE team_id = $1 AND task_id = $2 AND call_id = $3 AND state IN ('intended', 'started')
          RETURNING call_id, tool, arguments_json, started_at = now()::timestamptz(3) AS fresh
        ), event AS (
          UPDATE tasks SET last_event_seq = last_event_seq + CASE WHEN started.fresh THEN 1 ELSE 0 END
          FROM started WHERE team_id = $1 AND id = $2
          RETURNING ${taskColumns}, started.call_id, started.tool, started.arguments_json, started.fresh
        ), told AS (
          INSERT INTO task_events (team_id, task_id, seq, kind, data_json)
          SELECT $1, $2, last_event_seq, 'tool_started',
            json_build_object('callId', call_id, 'tool', tool, 'runner', $4::text, 'arguments', left(arguments_json, 2000))::text
          FROM event WHERE fresh
        ) SELECT *, ${seenFiles} AS seen FROM event`,
      values: [team, task, call, cleanText(runner)],
    });
    const found = rows[0];
    return found && { tool: found.tool, argumentsJson: found.arguments_json, row: rowOf(found), seen: found.seen ?? [] };
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
