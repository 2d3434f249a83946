import { Inject, Injectable } from '@nestjs/common';
import { NightshiftError, task } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { isUuid } from '../outcomes/calls';
import { WORKER } from './worker';
import type { Worker } from './worker';
import type { TaskDetails } from './task-details';
import type { TaskRow } from './task-row';
import { leaseLive, notEnded, rowOf, taskColumns } from './task-sql';
import type { TaskRecord } from './task-sql';

/** Reading tasks, taking leases and row locks. Outcomes are written by RecordStore alone. */
@Injectable()
export class TaskStore {
  constructor(
    private readonly pool: Pool,
    @Inject(WORKER) private readonly worker: Worker,
  ) {}

  /**
   * Takes the lease of a task whose step is due, for the given epoch.
   * @returns undefined when the epoch has passed, nothing is due, or another live worker holds it
   */
  async lease(team: string, id: string, epoch: number): Promise<TaskRow | undefined> {
    if (!isUuid(id)) return undefined;
    const { rows } = await this.pool.query<TaskRecord>({
      name: 'lease_task',
      text: `UPDATE tasks SET lease_owner = $4, lease_until = now() + $5 * interval '1 millisecond', step_attempts = step_attempts + 1
        WHERE team_id = $1 AND id = $2 AND epoch = $3 AND ${notEnded}
          AND (pending = ${task.Pending.STEP} OR (pending = ${task.Pending.TIMER} AND due_at <= now()))
          AND (lease_owner = $4 OR NOT ${leaseLive})
        RETURNING ${taskColumns}`,
      values: [team, id, epoch, this.worker.owner, this.worker.leaseMs],
    });
    return rows[0] && rowOf(rows[0]);
  }

  /** Gives the lease back after an infrastructure fault, which is not a failed attempt of the task. */
  async release(row: TaskRow, counted: boolean): Promise<void> {
    await this.pool.query({
      name: 'release_task',
      text: `UPDATE tasks SET lease_owner = NULL, lease_until = NULL, due_at = now() + interval '1 second',
          step_attempts = GREATEST(0, step_attempts - $5)
        WHERE team_id = $1 AND id = $2 AND epoch = $3 AND lease_owner = $4`,
      values: [row.teamId, row.id, row.epoch, this.worker.owner, counted ? 0 : 1],
    });
  }

  /** Locks the row until the transaction ends. */
  async lock(client: PoolClient, team: string, id: string): Promise<TaskRow | undefined> {
    if (!isUuid(id)) return undefined;
    const { rows } = await client.query<TaskRecord>({
      name: 'lock_task',
      text: `SELECT ${taskColumns} FROM tasks WHERE team_id = $1 AND id = $2 FOR UPDATE`,
      values: [team, id],
    });
    return rows[0] && rowOf(rows[0]);
  }

  /** As `lock`. @throws NightshiftError NOT_FOUND, also for the task of another team */
  async lockKnown(client: PoolClient, team: string, id: string): Promise<TaskRow> {
    return (await this.lock(client, team, id)) ?? unknownTask(id);
  }

  async find(team: string, id: string): Promise<TaskRow | undefined> {
    if (!isUuid(id)) return undefined;
    const { rows } = await this.pool.query<TaskRecord>({
      name: 'find_task',
      text: `SELECT ${taskColumns} FROM tasks WHERE team_id = $1 AND id = $2`,
      values: [team, id],
    });
    return rows[0] && rowOf(rows[0]);
  }

  /** @throws NightshiftError NOT_FOUND, also for the task of another team */
  async get(team: string, id: string): Promise<TaskRow> {
    return (await this.find(team, id)) ?? unknownTask(id);
  }

  async details(team: string, id: string, db: Pool | PoolClient = this.pool): Promise<TaskDetails> {
    const { rows } = await db.query<DetailsRecord>({
      name: 'task_details',
      text: 'SELECT * FROM task_details WHERE team_id = $1 AND task_id = $2',
      values: [team, id],
    });
    const record = rows[0];
    if (!record) return unknownTask(id);
    return {
      version: record.version,
      goal: record.goal,
      createdBy: record.created_by,
      criteria: record.criteria,
      plan: record.plan,
      chain: record.chain,
      options: record.options,
      workspace: record.workspace ?? undefined,
      rules: record.rules,
      question: record.question,
      result: record.result,
      focus: record.focus,
      receipt: record.receipt ?? undefined,
    };
  }

  /** Newest first. `beforeId` pages: ids are UUID v7, so they order by creation. */
  async list(
    team: string,
    filter: { limit: number; beforeId?: string; state?: task.TaskState; rootId?: string },
  ): Promise<readonly TaskRow[]> {
    const { rows } = await this.pool.query<TaskRecord>(
      `SELECT ${taskColumns} FROM tasks WHERE team_id = $1 AND ($2::uuid IS NULL OR id < $2) AND ($3::smallint IS NULL OR state = $3)
         AND ($4::uuid IS NULL OR root_id = $4) ORDER BY id DESC LIMIT $5`,
      [team, filter.beforeId ?? null, filter.state ?? null, filter.rootId ?? null, filter.limit],
    );
    return rows.map(rowOf);
  }
}

interface DetailsRecord {
  version: number;
  goal: string;
  created_by: string;
  criteria: TaskDetails['criteria'];
  plan: TaskDetails['plan'];
  chain: TaskDetails['chain'];
  options: TaskDetails['options'];
  workspace: TaskDetails['workspace'] | null;
  rules: string;
  question: string;
  result: string;
  focus: string;
  receipt: TaskDetails['receipt'] | null;
}

function unknownTask(id: string): never {
  throw new NightshiftError('NOT_FOUND', `there is no task ${id}`);
}
