import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Logger, Metrics } from '@nightshift/metrics';
import { RetentionStore } from './retention.store';
import type { RetentionLimits } from './retention.store';

export interface CollectorSettings extends RetentionLimits {
  everyMs: number;
}
export const COLLECTOR_SETTINGS = Symbol('COLLECTOR_SETTINGS');

/** Collects at an interval, one replica at a time. A failed round is logged; the next one does its work. */
@Injectable()
export class Collector implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(RetentionStore) private readonly retention: RetentionStore,
    @Inject(COLLECTOR_SETTINGS) private readonly settings: CollectorSettings,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(Logger) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.metrics.onScrape(async () => {
      this.metrics.gauge('toolresult_bytes').set({}, await this.retention.storedBytes());
    });
    this.timer = setInterval(() => void this.round(), this.settings.everyMs);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async round(): Promise<void> {
    try {
      const removed = await this.retention.collect(this.settings);
      if (!removed || (removed.results === 0 && removed.blobs === 0)) return;
      this.metrics.counter('toolresult_collected').inc({}, removed.blobs);
      this.logger.info({ ...removed }, 'collected tool results');
    } catch (error) {
      this.logger.warn({ error }, 'collection failed');
    }
  }
}
