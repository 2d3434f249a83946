import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { ConfigOf, NightshiftFile } from '@nightshift/config';
import { DatabaseModule, Pool } from '@nightshift/db';
import type { settings } from './config';
import { ConfiguredProviders } from './endpoints/configured';
import { EndpointStore } from './endpoints/endpoint.store';
import { LearnedHandlers } from './learned/learned.handlers';
import { LearnedStore } from './learned/learned.store';
import { ActiveRegistry } from './poll/active-registry';
import { EndpointPoller } from './poll/endpoint-poller';
import { POLL_SETTINGS } from './poll/poll-settings';
import type { PollSettings } from './poll/poll-settings';
import { Prober } from './poll/prober';
import { Publisher } from './windows/publisher';
import { STALE_AFTER, WindowService } from './windows/window-service';
import type { StaleAfter } from './windows/window-service';
import { WindowHandlers } from './windows/window.handlers';
import { WindowStore } from './windows/window.store';

/** Missed looks after which a figure counts as stale. */
const missedLooks = 3;

@Module({})
export class ModelRegistryModule {
  static forRoot(config: ConfigOf<typeof settings>, file: NightshiftFile, pool: Pool): DynamicModule {
    const poll: PollSettings = {
      everyMs: config.POLL_EVERY_MS,
      listEveryMs: config.LIST_EVERY_MS,
      timeoutMs: config.POLL_TIMEOUT_MS,
      maxBytes: config.POLL_MAX_BYTES,
      republishEveryMs: config.REPUBLISH_EVERY_MS,
      leaseRetryMs: config.LEASE_RETRY_MS,
    };
    const staleAfter: StaleAfter = { served: missedLooks * config.POLL_EVERY_MS, list: missedLooks * config.LIST_EVERY_MS };
    return {
      module: ModelRegistryModule,
      imports: [DatabaseModule.forRoot(pool)],
      controllers: [WindowHandlers, LearnedHandlers],
      providers: [
        WindowStore,
        WindowService,
        Publisher,
        EndpointStore,
        LearnedStore,
        EndpointPoller,
        Prober,
        ActiveRegistry,
        { provide: ConfiguredProviders, useValue: new ConfiguredProviders(file) },
        { provide: POLL_SETTINGS, useValue: poll },
        { provide: STALE_AFTER, useValue: staleAfter },
      ],
    };
  }
}
