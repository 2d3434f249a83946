import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import { Logger } from '@nightshift/metrics';
import { WORKER } from '../tasks/worker';
import type { Worker } from '../tasks/worker';

/** Keeps every lease of this process alive with one row. Without it other replicas take the tasks over. */
@Injectable()
export class Heartbeat implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: Pool,
    @Inject(WORKER) private readonly worker: Worker,
    private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.beat();
    this.timer = setInterval(() => void this.beat(), this.worker.leaseMs / 3);
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    // What this process still held is free at once instead of after the lease time.
    await this.pool.query('DELETE FROM worker_heartbeats WHERE owner = $1', [this.worker.owner]).catch((error: unknown) => {
      this.logger.warn({ error }, 'the heartbeat was not taken back: leases end by themselves');
    });
  }

  private async beat(): Promise<void> {
    try {
      await this.pool.query({
        name: 'heartbeat',
        text: `INSERT INTO worker_heartbeats (owner, alive_until) VALUES ($1, now() + $2 * interval '1 millisecond')
          ON CONFLICT (owner) DO UPDATE SET alive_until = excluded.alive_until`,
        values: [this.worker.owner, this.worker.leaseMs],
      });
      this.worker.beatenAt = Date.now();
    } catch (error) {
      this.logger.warn({ error }, 'no heartbeat: leases of this process may end');
    }
  }
}
