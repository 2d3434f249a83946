import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { compaction } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient, QueryResultRow } from '@nightshift/db';
import { isUuid } from '../outcomes/calls';
import { cleanText } from '../tasks/storable';

export interface PassRow {
  readonly passId: string;
  readonly generation: number | undefined;
  readonly reason: compaction.PassReason;
  readonly outcome: compaction.PassOutcome;
  readonly startedAt: number;
  readonly claimedAt: number | undefined;
  readonly worker: string;
  readonly endedAt: number | undefined;
  readonly measured: number;
  readonly lastSeq: number;
  readonly undoes: number;
  /** The worker's report without its checkpoint. */
  readonly report: compaction.Finished | undefined;
  /** Ms since the pass was queued and since it was claimed, by the database clock. */
  readonly elapsedMs: number;
  readonly claimedMsAgo: number;
}

interface PassRecord extends QueryResultRow {
  pass_id: string;
  generation: number | null;
  reason: number;
  outcome: number;
  started_at: Date;
  claimed_at: Date | null;
  worker: string;
  ended_at: Date | null;
  measured: number;
  last_seq: number;
  undoes: number;
  report: Buffer | null;
  elapsed_ms: number;
  claimed_ms_ago: number | null;
}

const columns = `pass_id, generation, reason, outcome, started_at, claimed_at, worker, ended_at, measured, last_seq, undoes, report,
  (extract(epoch FROM now() - started_at) * 1000)::int AS elapsed_ms, (extract(epoch FROM now() - claimed_at) * 1000)::int AS claimed_ms_ago`;

/** Passes and the generations they made. Opened together with the outcome that parks the task (RecordStore). */
@Injectable()
export class PassStore {
  constructor(private readonly pool: Pool) {}

  async find(client: PoolClient, team: string, task: string, pass: string): Promise<PassRow | undefined> {
    if (!isUuid(pass)) return undefined;
    const { rows } = await client.query<PassRecord>({
      name: 'find_pass',
      text: `SELECT ${columns} FROM task_checkpoints WHERE team_id = $1 AND task_id = $2 AND pass_id = $3`,
      values: [team, task, pass],
    });
    return rows[0] && passOf(rows[0]);
  }

  async list(team: string, task: string): Promise<readonly PassRow[]> {
    const { rows } = await this.pool.query<PassRecord>({
      name: 'list_passes',
      text: `SELECT ${columns} FROM task_checkpoints WHERE team_id = $1 AND task_id = $2 AND ended_at IS NOT NULL ORDER BY ended_at, generation`,
      values: [team, task],
    });
    return rows.map(passOf);
  }

  async claimed(client: PoolClient, team: string, task: string, pass: string, worker: string): Promise<void> {
    await client.query({
      name: 'claim_pass',
      text: 'UPDATE task_checkpoints SET claimed_at = now(), worker = $4 WHERE team_id = $1 AND task_id = $2 AND pass_id = $3',
      values: [team, task, pass, cleanText(worker)],
    });
  }

  /** Ends a pass with its report; `committed` makes it the checkpoint of a generation. */
  async ended(
    client: PoolClient,
    key: { team: string; task: string; pass: string },
    ended: {
      outcome: compaction.PassOutcome;
      report: compaction.Finished;
      lastSeq: number;
      committed: { generation: number; checkpoint: compaction.Checkpoint } | undefined;
    },
  ): Promise<void> {
    const report = create(compaction.FinishedSchema, { ...ended.report, checkpoint: undefined });
    const body = ended.committed && Buffer.from(toBinary(compaction.CheckpointSchema, ended.committed.checkpoint));
    await client.query({
      name: 'end_pass',
      text: `UPDATE task_checkpoints SET outcome = $4, report = $5, last_seq = $6, generation = $7, checkpoint = $8, ended_at = now()
        WHERE team_id = $1 AND task_id = $2 AND pass_id = $3 AND ended_at IS NULL`,
      values: [
        key.team,
        key.task,
        key.pass,
        ended.outcome,
        Buffer.from(toBinary(compaction.FinishedSchema, report)),
        ended.lastSeq,
        ended.committed?.generation ?? null,
        body ?? null,
      ],
    });
  }

  /** A generation that shows again what an earlier one showed; append-only, so that nothing compares equal by accident. */
  async undone(
    client: PoolClient,
    key: { team: string; task: string; pass: string },
    undo: { generation: number; undoes: number; restores: number; measured: number; lastSeq: number },
  ): Promise<void> {
    await client.query({
      name: 'undo_pass',
      text: `INSERT INTO task_checkpoints (team_id, task_id, pass_id, generation, reason, outcome, undoes, measured, last_seq, ended_at, checkpoint)
        SELECT $1, $2, $3, $4, $5, 0, $6, $8, $9, now(),
          (SELECT checkpoint FROM task_checkpoints WHERE team_id = $1 AND task_id = $2 AND generation = $7)`,
      values: [
        key.team,
        key.task,
        key.pass,
        undo.generation,
        compaction.PassReason.MANUAL,
        undo.undoes,
        undo.restores,
        undo.measured,
        undo.lastSeq,
      ],
    });
  }

  /** The entry that takes most of the window after the given seq, for a person. */
  async largest(team: string, task: string, after: number): Promise<string> {
    const { rows } = await this.pool.query<{ seq: number; kind: string; estimated_tokens: number }>({
      name: 'largest_entry',
      text: `SELECT seq, kind, estimated_tokens FROM task_entries WHERE team_id = $1 AND task_id = $2 AND seq > $3
        ORDER BY estimated_tokens DESC, seq LIMIT 1`,
      values: [team, task, after],
    });
    const found = rows[0];
    return found ? `${found.kind} of about ${found.estimated_tokens} tokens (entry ${found.seq})` : 'none';
  }
}

function passOf(record: PassRecord): PassRow {
  return {
    passId: record.pass_id,
    generation: record.generation ?? undefined,
    reason: record.reason,
    outcome: record.outcome,
    startedAt: record.started_at.getTime(),
    claimedAt: record.claimed_at?.getTime(),
    worker: record.worker,
    endedAt: record.ended_at?.getTime(),
    measured: record.measured,
    lastSeq: record.last_seq,
    undoes: record.undoes,
    report: record.report ? fromBinary(compaction.FinishedSchema, record.report) : undefined,
    elapsedMs: record.elapsed_ms,
    claimedMsAgo: record.claimed_ms_ago ?? 0,
  };
}
