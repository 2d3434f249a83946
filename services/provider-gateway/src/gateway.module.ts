import { Module, type DynamicModule } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import type { ConfigOf, NightshiftFile } from '@nightshift/config';
import { routes } from '@nightshift/contracts';
import { DatabaseModule, type Pool } from '@nightshift/db';
import { Logger, Metrics } from '@nightshift/metrics';
import { WindowsModule, type WindowReader } from '@nightshift/windows';
import { CallDesk } from './calls/call-desk';
import { observeGenAi } from './calls/traced-call';
import { LeaseKeeper } from './calls/lease-keeper';
import { LlmHandlers } from './calls/llm.handlers';
import type { settings } from './config';
import type { GatewayDeps } from './core/gateway-deps';
import { gatewayDeps } from './gateway-deps.factory';
import { BreakerFollower } from './health/breaker-follower';
import { InternalHttp } from './http/internal-http';
import { AttemptLog } from './ledger/attempt-log';
import { CallStore } from './ledger/call.store';
import type { ProviderCatalog } from './providers/catalog';
import { ProviderReports } from './providers/provider-reports';
import { ProviderHandlers } from './providers/provider.handlers';
import { StopHandlers } from './stop/stop.handlers';
import { StoppedTasks } from './stop/stopped-tasks';
import { GATEWAY_DEPS } from './gateway-token';

export interface GatewayParts {
  config: ConfigOf<typeof settings>;
  file: NightshiftFile;
  catalog: ProviderCatalog;
  pool: Pool;
  /** For claims; ended with the module. */
  quickPool: Pool;
  windows: WindowReader;
}

@Module({})
export class GatewayModule {
  static forRoot({ config, file, catalog, pool, quickPool, windows }: GatewayParts): DynamicModule {
    return {
      module: GatewayModule,
      imports: [DatabaseModule.forRoot(pool), WindowsModule.forRoot(windows)],
      controllers: [LlmHandlers, ProviderHandlers, StopHandlers],
      providers: [
        {
          provide: GATEWAY_DEPS,
          inject: [Bus, Metrics, Logger],
          useFactory: (bus: Bus, metrics: Metrics, logger: Logger) =>
            gatewayDeps({ bus, metrics, logger, windows, catalog, file, instance: config.INSTANCE_ID }),
        },
        { provide: StoppedTasks, useFactory: () => new StoppedTasks(Date.now) },
        // A restarted process must not take its own former calls for running ones: the owner names this very life of it.
        {
          provide: CallStore,
          useFactory: () => new CallStore(pool, `${config.INSTANCE_ID}-${Date.now().toString(36)}`, quickPool),
        },
        {
          provide: CallDesk,
          inject: [GATEWAY_DEPS, CallStore, StoppedTasks, Bus, Metrics, Logger],
          useFactory: (deps: GatewayDeps, store: CallStore, stops: StoppedTasks, bus: Bus, metrics: Metrics, logger: Logger) => {
            const joined = metrics.counter('provider_calls_joined');
            return new CallDesk(deps, store, stops, {
              live: (team, delta) => bus.live(routes.liveDelta, delta, { team, task: delta.taskId ?? '' }),
              joined: (how) => joined.inc({ how }),
              measured: (call) => observeGenAi(metrics, call),
              onStoreFault: (error) => logger.error({ error }, 'the outcome of a model call could not be stored'),
            });
          },
        },
        { provide: ProviderReports, inject: [GATEWAY_DEPS], useFactory: (deps: GatewayDeps) => new ProviderReports(deps) },
        LeaseKeeper,
        AttemptLog,
        InternalHttp,
        BreakerFollower,
      ],
    };
  }
}
