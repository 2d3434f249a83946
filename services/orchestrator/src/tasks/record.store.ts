import { create, toBinary } from '@bufbuild/protobuf';
import { Inject, Injectable } from '@nestjs/common';
import { fromMs, task, transcript } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { v7 } from 'uuid';
import type { Outcome } from './outcome';
import { cleanText, storableJson } from './storable';
import { recordClosingStatement, recordStatement } from './record-sql';
import { rowOf } from './task-sql';
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
   * @param closes parameters of the tool call that this outcome closes, see `closingValues`; none = it closes none of a runner
   * @returns undefined when the row has moved on; the work was somebody else's
   */
  async record(
    outcome: Outcome,
    guard: RecordGuard,
    db: Pool | PoolClient = this.pool,
    closes: readonly unknown[] = [],
  ): Promise<Recorded | undefined> {
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
      name: closes.length > 0 ? 'record_and_close' : 'record_outcome',
      text: closes.length > 0 ? recordClosingStatement : recordStatement,
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
        ...closes,
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
