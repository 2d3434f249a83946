import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import { Logger, Metrics } from '@nightshift/metrics';
import { ConfiguredProviders } from '../endpoints/configured';
import type { ConfiguredProvider } from '../endpoints/configured';
import { EndpointStore } from '../endpoints/endpoint.store';
import { Publisher } from '../windows/publisher';
import { ActiveLease } from './active-lease';
import { EndpointPoller } from './endpoint-poller';
import { POLL_SETTINGS } from './poll-settings';
import type { PollSettings } from './poll-settings';

/** After what failed for reasons of our own (Postgres or the gateway away). */
const retryMs = 1_000;

/** What the one active replica does: publishes everything at once and every minute, and looks at each endpoint in its interval. */
@Injectable()
export class ActiveRegistry implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly lease: ActiveLease;

  constructor(
    @Inject(Pool) pool: Pool,
    @Inject(EndpointPoller) private readonly poller: EndpointPoller,
    @Inject(Publisher) private readonly publisher: Publisher,
    @Inject(ConfiguredProviders) private readonly providers: ConfiguredProviders,
    @Inject(EndpointStore) private readonly endpoints: EndpointStore,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(Logger) private readonly logger: Logger,
    @Inject(POLL_SETTINGS) private readonly settings: PollSettings,
  ) {
    this.lease = new ActiveLease(pool, settings.leaseRetryMs);
  }

  onApplicationBootstrap(): void {
    this.metrics.onScrape(() => this.countAge());
    this.lease.start(() => {
      this.logger.info({}, 'this replica polls and publishes');
      const end = new AbortController();
      void this.repeat(end.signal, () => this.publish());
      for (const provider of this.providers.named()) void this.repeat(end.signal, () => this.look(provider));
      return () => end.abort();
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.lease.stop();
  }

  /** Endpoints are independent: a slow one delays no other. */
  private async repeat(end: AbortSignal, work: () => Promise<number>): Promise<void> {
    while (!end.aborted) {
      const waitMs = await work();
      // The signal may have come during the work; a listener added afterwards would never be called.
      if (end.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, waitMs);
        end.addEventListener('abort', done, { once: true });
        function done(): void {
          clearTimeout(timer);
          end.removeEventListener('abort', done);
          resolve();
        }
      });
    }
  }

  private async look(provider: ConfiguredProvider): Promise<number> {
    const state = await this.poller.poll(provider);
    if (state === 'unknown') return retryMs;
    return this.poller.server(provider) ? this.settings.everyMs : this.settings.listEveryMs;
  }

  private async publish(): Promise<number> {
    try {
      await this.publisher.publishAll();
      return this.settings.republishEveryMs;
    } catch (error) {
      this.logger.warn({ error }, 'windows could not be published; readers keep what they have');
      return retryMs;
    }
  }

  private async countAge(): Promise<void> {
    const statuses = await this.endpoints.status(this.providers.named());
    const ages = statuses.filter((each) => each.state === 'up').map((each) => Date.now() - Number(each.lastOkMs ?? 0n));
    this.metrics.gauge('window_age_seconds').set({}, ages.length > 0 ? Math.max(...ages) / 1_000 : 0);
  }
}
