import { Injectable } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import type { QueryResultRow } from '@nightshift/db';

/** How long a runner may be silent, in ms; it ends its own processes after 45 s. */
export const runnerLeaseMs = 60_000;

export interface RunnerRow {
  readonly id: string;
  readonly sandboxed: boolean;
  readonly sandboxReason: string;
  readonly allowedRoots: readonly string[];
  readonly slots: number;
  readonly workspaces: number;
}

interface RunnerRecord extends QueryResultRow {
  id: string;
  sandboxed: boolean;
  sandbox_reason: string;
  allowed_roots: string[];
  slots: number;
  workspaces: number;
}

/** Tool runners and the workspaces they hold. Leases by the database clock. */
@Injectable()
export class RunnerStore {
  constructor(private readonly pool: Pool) {}

  /** Renews the lease of a runner. @returns true when it is new, or was gone */
  async announce(runner: Omit<RunnerRow, 'workspaces'>): Promise<boolean> {
    const { rows } = await this.pool.query<{ fresh: boolean }>({
      name: 'announce_runner',
      text: `WITH before AS (SELECT lease_until FROM runners WHERE id = $1)
        INSERT INTO runners (id, lease_until, sandboxed, sandbox_reason, allowed_roots, slots)
        VALUES ($1, now() + $2 * interval '1 millisecond', $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, sandboxed = excluded.sandboxed,
          sandbox_reason = excluded.sandbox_reason, allowed_roots = excluded.allowed_roots, slots = excluded.slots, announced_at = now()
        RETURNING COALESCE((SELECT lease_until < now() FROM before), true) AS fresh`,
      values: [
        runner.id,
        runnerLeaseMs,
        runner.sandboxed,
        runner.sandboxReason,
        JSON.stringify(runner.allowedRoots),
        runner.slots,
      ],
    });
    return rows[0]?.fresh ?? true;
  }

  /** Live runners, the least loaded first. */
  async live(): Promise<readonly RunnerRow[]> {
    const { rows } = await this.pool.query<RunnerRecord>({
      name: 'live_runners',
      text: `SELECT r.*, (SELECT count(*)::int FROM workspaces w WHERE w.runner = r.id AND w.closed_at IS NULL) AS workspaces
        FROM runners r WHERE r.lease_until > now() ORDER BY workspaces, r.id`,
    });
    return rows.map((record) => ({
      id: record.id,
      sandboxed: record.sandboxed,
      sandboxReason: record.sandbox_reason,
      allowedRoots: record.allowed_roots,
      slots: record.slots,
      workspaces: record.workspaces,
    }));
  }

  async isLive(runner: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ live: boolean }>({
      name: 'runner_live',
      text: 'SELECT EXISTS (SELECT 1 FROM runners WHERE id = $1 AND lease_until > now()) AS live',
      values: [runner],
    });
    return rows[0]?.live ?? false;
  }

  async hold(team: string, workspace: string, task: string, runner: string): Promise<void> {
    await this.pool.query({
      name: 'hold_workspace',
      text: `INSERT INTO workspaces (team_id, id, task_id, runner, state) VALUES ($1, $2, $3, $4, 'open')
        ON CONFLICT (team_id, id) DO UPDATE SET runner = excluded.runner, state = 'open', closed_at = NULL`,
      values: [team, workspace, task, runner],
    });
  }

  /** Of the named workspaces of a runner, those whose task ended longer ago than the given time, in ms. */
  async closed(runner: string, workspaces: readonly string[], keepMs: number): Promise<readonly string[]> {
    if (workspaces.length === 0) return [];
    const { rows } = await this.pool.query<{ id: string }>({
      name: 'closed_workspaces',
      text: `SELECT w.id FROM workspaces w JOIN tasks t ON t.team_id = w.team_id AND t.id = w.task_id
        WHERE w.runner = $1 AND w.id::text = ANY($2::text[]) AND t.ended_at < now() - $3 * interval '1 millisecond'`,
      values: [runner, workspaces, keepMs],
    });
    return rows.map(({ id }) => id);
  }
}
