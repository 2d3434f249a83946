import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { task } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import { Metrics } from '@nightshift/metrics';
import { DeadLetterStore } from '../deadletters/deadletter.store';

const states = ['running', 'compacting', 'waiting', 'paused', 'cancelling', 'completed', 'failed', 'cancelled'] as const;

/** Figures that lie in the database; read when somebody scrapes. */
@Injectable()
export class Gauges implements OnApplicationBootstrap {
  constructor(
    private readonly pool: Pool,
    private readonly metrics: Metrics,
    private readonly letters: DeadLetterStore,
  ) {}

  onApplicationBootstrap(): void {
    this.metrics.onScrape(() => this.refresh());
  }

  private async refresh(): Promise<void> {
    const { rows } = await this.pool.query<{ state: number; tasks: number; open: number }>(
      `SELECT state, count(*)::int AS tasks, (count(*) FILTER (WHERE state NOT IN (6, 7, 8) AND (memory->'breaker'->>'open')::boolean))::int AS open
       FROM tasks GROUP BY state`,
    );
    for (const state of states) {
      const value = task.TaskState[state.toUpperCase() as keyof typeof task.TaskState];
      this.metrics.gauge('task_states').set({ state }, rows.find((row) => row.state === value)?.tasks ?? 0);
    }
    this.metrics.gauge('compaction_breaker_open_tasks').set(
      {},
      rows.reduce((sum, row) => sum + row.open, 0),
    );
    this.metrics.gauge('tasks_stalled').set({}, await this.stalled());
    this.metrics.gauge('dead_letters_waiting').set({}, await this.letters.waiting());
  }

  /** Tasks that wait for the platform alone and have recorded nothing for 15 minutes. A command may take an hour, and is left out. */
  private async stalled(): Promise<number> {
    const { rows } = await this.pool.query<{ tasks: number }>(
      `SELECT count(*)::int AS tasks FROM tasks AS t
       WHERE due_at IS NOT NULL AND pending IN ($1, $2, $3) AND updated_at < now() - interval '15 minutes'
         AND NOT EXISTS (SELECT FROM tool_calls AS c WHERE c.team_id = t.team_id AND c.task_id = t.id
           AND c.state = 'started' AND c.started_at > now() - interval '61 minutes')`,
      [task.Pending.STEP, task.Pending.TOOLS, task.Pending.COMPACTION],
    );
    return rows[0]?.tasks ?? 0;
  }
}
