import { Pool } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';

/** The number only has to differ from other locks of ours. */
const activeRegistryLock = 7_240_401;

/**
 * One active replica, by a lock that Postgres holds for a connection: it is free again the moment the process or its
 * connection dies, and whoever asks next takes over.
 */
export class ActiveLease {
  private stopped = false;
  private wake: () => void = () => undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    private readonly retryMs: number,
  ) {}

  /** `onGain` starts the work and returns how to stop it. */
  start(onGain: () => () => void): void {
    this.running = this.hold(onGain);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    await this.running;
  }

  private async hold(onGain: () => () => void): Promise<void> {
    while (!this.stopped) {
      await this.holdOnce(onGain);
      if (!this.stopped) await this.pause(this.retryMs);
    }
  }

  private async holdOnce(onGain: () => () => void): Promise<void> {
    let client: PoolClient | undefined;
    try {
      client = await this.pool.connect();
      const lost = new Promise<void>((resolve) => {
        client?.once('error', () => resolve());
        client?.once('end', () => resolve());
      });
      const taken = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [activeRegistryLock]);
      if (!taken.rows[0]?.taken) return;
      const onLose = onGain();
      await Promise.race([lost, this.untilStopped()]);
      onLose();
    } catch {
      // Postgres is away: readiness says so, and the next try comes soon.
    } finally {
      // Destroyed rather than given back: the lock must not outlive our use of the connection.
      client?.release(true);
    }
  }

  private untilStopped(): Promise<void> {
    return new Promise((resolve) => {
      if (this.stopped) resolve();
      else this.wake = resolve;
    });
  }

  private pause(ms: number): Promise<void> {
    return Promise.race([new Promise<void>((resolve) => setTimeout(resolve, ms)), this.untilStopped()]);
  }
}
