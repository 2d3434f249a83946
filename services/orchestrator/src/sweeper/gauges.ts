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
    this.metrics.gauge('dead_letters_waiting').set({}, await this.letters.waiting());
  }
}
