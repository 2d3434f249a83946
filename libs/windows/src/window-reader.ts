import type { compaction } from '@nightshift/contracts';
import { windowBucket } from './window-keys';
import { WindowTable } from './window-table';
import type { BucketChange } from './window-table';

/** The part of the bus that a reader needs. */
export interface WatchableBuckets {
  kv(bucket: string): Promise<{ watch(onChange: (change: BucketChange) => void): Promise<{ stop(): void }> }>;
}

const retryMs = 1_000;

/**
 * The window of every model, from a local copy of the registry's bucket: no request on the hot path. Last known windows
 * keep serving while the registry or NATS is away. WindowsModule connects it to the bus.
 */
export class WindowReader {
  private readonly table = new WindowTable();
  private watch: { stop(): void } | undefined;
  private stopped = false;
  private fault = 'model windows have not been read yet';

  /** Readiness check: undefined once the `seeded` marker has been seen; a cold copy would read a known window as 32 000. */
  ready(): Promise<string | undefined> {
    return Promise.resolve(this.table.seeded ? undefined : this.fault);
  }

  /**
   * @param endpoint the provider's base URL; empty = its configured one
   * @param team gives that team's override where it has one
   * @returns 32 000 with `unknown` set for a model the registry does not know
   */
  get(provider: string, endpoint: string, model: string, team?: string): compaction.ModelWindow {
    return this.table.get(provider, endpoint, model, team);
  }

  /** Every window known, for display. */
  all(): compaction.ModelWindow[] {
    return this.table.all();
  }

  /** Watches the bucket until stopped; resolves once the watch stands. */
  async follow(buckets: WatchableBuckets): Promise<void> {
    while (!this.stopped) {
      try {
        const bucket = await buckets.kv(windowBucket);
        this.watch = await bucket.watch((change) => this.table.apply(change));
        this.fault = 'model registry has not published its windows yet';
        if (this.stopped) this.watch.stop();
        return;
      } catch (thrown) {
        // NATS is away or still starting: readiness says so, and the next try comes in a second.
        this.fault = `model windows: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  stop(): void {
    this.stopped = true;
    this.watch?.stop();
  }
}
