import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { task } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import { Logger, Metrics } from '@nightshift/metrics';
import { LostWorkspaces } from '../runners/lost-workspaces';
import { Wakes } from '../steps/wakes';
import { leaseLive, notEnded, rowOf, taskColumns } from '../tasks/task-sql';
import type { TaskRecord } from '../tasks/task-sql';
import type { TaskRow } from '../tasks/task-row';
import { WORKER } from '../tasks/worker';
import type { Worker } from '../tasks/worker';

const everyMs = 2_000;
/** Overdue tasks looked at in one go. */
const batchSize = 500;

/**
 * Publishes every overdue wake-up that nobody works on: whatever was lost between a commit and its publishing comes back
 * here. Runs in every replica; `SKIP LOCKED` keeps them out of each other's way.
 */
@Injectable()
export class Sweeper implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly pool: Pool,
    @Inject(WORKER) private readonly worker: Worker,
    private readonly wakes: Wakes,
    private readonly lost: LostWorkspaces,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const run = (): void => {
      this.running ??= this.sweep()
        .then(() => undefined)
        .catch((error: unknown) => this.logger.warn({ error }, 'overdue tasks were not looked at'))
        .finally(() => (this.running = undefined));
    };
    run();
    this.timer = setInterval(run, everyMs);
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** One round. @returns how many wake-ups were published */
  async sweep(): Promise<number> {
    let published = 0;
    for (;;) {
      const due = await this.due();
      published += due.filter(({ live }) => !live).length;
      await Promise.all(due.filter(({ live }) => !live).map(({ row }) => this.wake(row)));
      if (due.length < batchSize) break;
    }
    if (published > 0) this.metrics.counter('task_wakeups_swept').inc({}, published);
    return published;
  }

  /**
   * Overdue tasks; each is put off by the statement that finds it: worked-on ones by a lease, others by a growing pause, since a
   * queue may merely be long: up to a minute, and ten for a pass, which waits as long as no worker runs.
   */
  private async due(): Promise<readonly { row: TaskRow; live: boolean }[]> {
    const { rows } = await this.pool.query<TaskRecord & { live: boolean }>({
      name: 'sweep',
      text: `WITH due AS (
          SELECT team_id, id, ${leaseLive} AS live FROM tasks WHERE due_at <= now() AND ${notEnded}
          ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
        )
        UPDATE tasks SET publish_count = publish_count + CASE WHEN due.live THEN 0 ELSE 1 END,
          pending = CASE WHEN pending = ${task.Pending.TIMER} AND NOT due.live THEN ${task.Pending.STEP} ELSE pending END,
          due_at = CASE WHEN due.live THEN now() + $2 * interval '1 millisecond'
            ELSE now() + LEAST(CASE WHEN pending = ${task.Pending.COMPACTION} THEN 600 ELSE 60 END,
              5 * power(2, LEAST(publish_count, 10))) * interval '1 second' END
        FROM due WHERE tasks.team_id = due.team_id AND tasks.id = due.id
        RETURNING ${taskColumns}, due.live AS live`,
      values: [batchSize, this.worker.leaseMs],
    });
    return rows.map((record) => ({ row: rowOf(record), live: record.live }));
  }

  private async wake(row: TaskRow): Promise<void> {
    try {
      if (row.pending === task.Pending.STEP) await this.wakes.step(row);
      if (row.pending === task.Pending.COMPACTION) await this.wakes.compaction(row);
      if (row.pending === task.Pending.TOOLS && !(await this.lost.check(row))) await this.wakes.toolsAgain(row);
    } catch (error) {
      // NATS is away: the task is overdue again in a moment.
      this.logger.warn({ error, task: row.id, team: row.teamId }, 'an overdue wake-up was not published');
    }
  }
}
