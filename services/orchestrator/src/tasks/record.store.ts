import { create, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { fromMs, task, transcript } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { v7 } from 'uuid';
import type { Outcome } from './outcome';
import { cleanText, storableJson } from './storable';
import { rowOf, taskColumns } from './task-sql';
import type { TaskRecord } from './task-sql';
import type { Memory, TaskRow } from './task-row';
import { WORKER } from './worker';
import type { Worker } from './worker';

/** Grace before the sweeper takes over what was published, in ms. A task that waits for a person is never due. */
const graceMs: Readonly<Record<task.Pending, number | undefined>> = {
  [task.Pending.UNSPECIFIED]: undefined,
  [task.Pending.STEP]: 3_000,
  [task.Pending.TOOLS]: 5_000,
  [task.Pending.COMPACTION]: 5_000,
  [task.Pending.TIMER]: 1_000,
  [task.Pending.CHILD]: 60_000,
  [task.Pending.USER]: undefined,
  [task.Pending.NONE]: undefined,
};

/** One statement: the row by compare-and-set on the epoch, and everything that belongs to the outcome only if that held. */
const statement = `
WITH t AS (
  UPDATE tasks SET
    state = $4::smallint, pending = $5::smallint, reason = $6::text, epoch = epoch + 1, publish_count = 0, step_attempts = 0,
    due_at = now() + $7::float8 * interval '1 millisecond',
    lease_owner = $8::text, lease_until = CASE WHEN $8::text IS NULL THEN NULL ELSE now() + $30::float8 * interval '1 millisecond' END,
    generation = $9::int, iterations = $10::int, tool_calls = $11::int, threshold_hits = $12::int, chain_position = $13::smallint, pass_id = $14::uuid,
    pause_requested = COALESCE($15::boolean, pause_requested), compact_requested = COALESCE($16::boolean, compact_requested),
    memory = $17::jsonb, last_seq = last_seq + $18::int, last_event_seq = last_event_seq + $19::int,
    details_version = details_version + CASE WHEN $20::jsonb IS NULL THEN 0 ELSE 1 END,
    updated_at = now(), ended_at = CASE WHEN $4::smallint IN (6, 7, 8) THEN now() END
  WHERE team_id = $1::text AND id = $2::uuid AND epoch = $3::int AND state NOT IN (6, 7, 8) AND ($21::text IS NULL OR lease_owner = $21)
  RETURNING ${taskColumns}
), entries AS (
  INSERT INTO task_entries (team_id, task_id, seq, kind, bytes, estimated_tokens, body)
  SELECT $1::text, $2::uuid, e.seq, e.kind, octet_length(e.body), e.estimate, e.body
  FROM t, unnest($22::int[], $23::text[], $24::int[], $25::bytea[]) AS e(seq, kind, estimate, body)
), calls AS (
  INSERT INTO tool_calls (team_id, task_id, call_id, provider_id, entry_seq, position, wave, tool, place, effect, state,
    arguments_json, ended_at, result)
  SELECT $1::text, $2::uuid, c.call_id, c.provider_id, $26::int, c.position, c.wave, c.tool, c.place, c.effect, c.state, c.arguments_json,
    CASE WHEN c.result IS NOT NULL THEN now() END, decode(c.result, 'base64')
  FROM t, json_to_recordset($27::json) AS c(call_id uuid, provider_id text, position smallint, wave smallint, tool text,
    place text, effect smallint, state text, arguments_json text, result text)
), closed AS (
  UPDATE tool_calls SET state = c.state, result = decode(c.result, 'base64'), ended_at = now()
  FROM t, json_to_recordset($28::json) AS c(call_id uuid, state text, result text)
  WHERE tool_calls.team_id = $1::text AND tool_calls.task_id = $2::uuid AND tool_calls.call_id = c.call_id
), events AS (
  INSERT INTO task_events (team_id, task_id, seq, kind, data_json)
  SELECT $1::text, $2::uuid, t.last_event_seq - $19::int + v.n, v.event->>'kind', v.event->>'data'
  FROM t, json_array_elements($29::json) WITH ORDINALITY AS v(event, n)
), pass AS (
  INSERT INTO task_checkpoints (team_id, task_id, pass_id, reason, measured)
  SELECT $1::text, $2::uuid, $14::uuid, $31::smallint, $32::int FROM t WHERE $31::smallint IS NOT NULL
), details AS (
  UPDATE task_details SET
    version = version + 1,
    criteria = COALESCE($20::jsonb->'criteria', criteria), plan = COALESCE($20::jsonb->'plan', plan),
    chain = COALESCE($20::jsonb->'chain', chain), workspace = COALESCE($20::jsonb->'workspace', workspace),
    rules = COALESCE($20::jsonb->>'rules', rules), question = COALESCE($20::jsonb->>'question', question),
    result = COALESCE($20::jsonb->>'result', result), focus = COALESCE($20::jsonb->>'focus', focus),
    receipt = COALESCE($20::jsonb->'receipt', receipt)
  FROM t WHERE task_details.team_id = $1::text AND task_details.task_id = $2::uuid AND $20::jsonb IS NOT NULL
)
SELECT * FROM t`;

/** What must still hold for an outcome to be recorded. */
export interface RecordGuard {
  /** The row as it was when the decision was made. */
  readonly row: TaskRow;
  /** Long work: only the holder of the lease records. Otherwise the caller holds the row lock. */
  readonly leased: boolean;
  /** The lease goes on with the next step in this process. */
  readonly keep?: boolean;
  readonly now: number;
}

export interface Recorded {
  readonly row: TaskRow;
  readonly entries: readonly transcript.Entry[];
  /** Encoded bytes of all entries together. */
  readonly bytes: number;
}

@Injectable()
export class RecordStore {
  constructor(
    private readonly pool: Pool,
    @Inject(WORKER) private readonly worker: Worker,
  ) {}

  /**
   * Records an outcome: everything or nothing.
   * @param db a client inside a transaction that holds the row lock; the pool otherwise
   * @returns undefined when the row has moved on; the work was somebody else's
   */
  async record(outcome: Outcome, guard: RecordGuard, db: Pool | PoolClient = this.pool): Promise<Recorded | undefined> {
    const { row } = guard;
    const next = { ...row, ...outcome.row };
    const entries = numbered(outcome, row, guard.now);
    const events = [
      ...outcome.events,
      ...entries.map((entry) => ({ kind: 'entry_appended', data: { seq: entry.seq, kind: entry.body.case } })),
      ...stateEvents(row, next, outcome),
    ];
    const due = outcome.row.dueInMs ?? graceMs[next.pending] ?? null;
    const assistant = entries.find(({ body }) => body.case === 'assistant');
    const bodies = entries.map((entry) => Buffer.from(toBinary(transcript.EntrySchema, entry)));
    const { rows } = await db.query<TaskRecord>({
      name: 'record_outcome',
      text: statement,
      values: [
        row.teamId,
        row.id,
        row.epoch,
        next.state,
        next.pending,
        cleanText(next.reason.slice(0, 500)),
        due,
        guard.keep ? this.worker.owner : null,
        next.generation,
        next.iterations,
        next.toolCalls,
        next.thresholdHits,
        next.chainPosition,
        next.passId ?? null,
        outcome.row.pauseRequested ?? null,
        outcome.row.compactRequested ?? null,
        storableJson(withSums(next, outcome)),
        entries.length,
        events.length,
        outcome.details ? storableJson(outcome.details) : null,
        guard.leased ? this.worker.owner : null,
        entries.map(({ seq }) => seq),
        entries.map(({ body }) => body.case ?? ''),
        outcome.entries.map(({ estimate }) => estimate),
        bodies,
        assistant?.seq ?? 0,
        storableJson(
          outcome.calls.map((call) => ({
            call_id: call.callId,
            provider_id: call.providerId,
            position: call.position,
            wave: call.wave,
            tool: call.tool,
            place: call.place,
            effect: call.effect,
            state: call.state,
            arguments_json: call.argumentsJson,
            result: call.result && encodeResult(call.result),
          })),
        ),
        storableJson(
          outcome.closedCalls.map(({ callId, state, result }) => ({ call_id: callId, state, result: encodeResult(result) })),
        ),
        storableJson(events.map(({ kind, data }) => ({ kind, data: storableJson(data) }))),
        this.worker.leaseMs,
        outcome.startsPass?.reason ?? null,
        outcome.startsPass?.measured ?? 0,
      ],
    });
    const updated = rows[0];
    return updated && { row: rowOf(updated), entries, bytes: bodies.reduce((sum, { length }) => sum + length, 0) };
  }
}

function numbered(outcome: Outcome, row: TaskRow, now: number): readonly transcript.Entry[] {
  return outcome.entries.map(({ body }, index) =>
    create(transcript.EntrySchema, { seq: row.lastSeq + index + 1, id: v7(), atMs: fromMs(now), body }),
  );
}

/** Running sums follow the entries here, in one place, so that no outcome can forget them. */
function withSums({ memory, generation, lastSeq }: TaskRow, { entries }: Outcome): Memory {
  // Of another generation: the next step renders once and counts afresh.
  if (memory.sums.generation !== generation) return memory;
  const estimate = entries.reduce((sum, entry) => sum + entry.estimate, memory.sums.estimate);
  return { ...memory, sums: { generation, through: lastSeq + entries.length, estimate } };
}

/** Every change of state is an event, whoever caused it. */
function stateEvents(before: TaskRow, after: TaskRow, outcome: Outcome): Outcome['events'] {
  if (before.state === after.state && before.reason === after.reason) return [];
  if (outcome.events.some(({ kind }) => kind === 'state_changed')) return [];
  return [{ kind: 'state_changed', data: { state: task.TaskState[after.state].toLowerCase(), reason: after.reason } }];
}

function encodeResult(result: transcript.ToolResult): string {
  return Buffer.from(toBinary(transcript.ToolResultSchema, result)).toString('base64');
}
