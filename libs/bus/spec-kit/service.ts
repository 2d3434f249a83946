import { Module, type Type } from '@nestjs/common';
import { loadConfig, serviceSettings } from '@nightshift/config';
import type { ServiceName } from '@nightshift/contracts';
import { Bus, startService, type RunningService, type ServiceOptions } from '../src/index';
import { createLogger, createMetrics } from '@nightshift/metrics';

/** Heartbeats every 100 ms, silence after 400 ms: the real ratio, faster. */
export const fastTimings = { heartbeatMs: 100, silenceMs: 400, scanMs: 300 };

@Module({})
class HandlersModule {}

export function specConfig(url: string, env: Record<string, string> = {}) {
  return loadConfig(serviceSettings, {
    NATS_URL: url,
    ACK_WAIT_MS: '900',
    LOG_LEVEL: 'silent',
    SHUTDOWN_GRACE_MS: '2000',
    ...env,
  });
}

/** A service of one's own for a spec file, on the real server: the real boot, with the given handlers only. */
export function startSpecService(
  url: string,
  service: ServiceName,
  controllers: Type[],
  options: Partial<ServiceOptions> & { env?: Record<string, string> } = {},
): Promise<RunningService> {
  const { env, ...rest } = options;
  return startService({
    service,
    module: { module: HandlersModule, controllers },
    config: specConfig(url, env),
    partial: true,
    timings: fastTimings,
    ...rest,
  });
}

/** The sending half alone. */
export function connectSpecBus(url: string, service: ServiceName): Promise<Bus> {
  return Bus.connect(
    { url, service, instance: 'spec', ackWaitMs: 900, onDrift: 'fail', timings: fastTimings },
    createMetrics(service),
    createLogger({ service, level: 'silent' }),
  );
}

export interface Latch {
  promise: Promise<void>;
  open(): void;
}

/** A promise that a test opens. */
export function latch(): Latch {
  let open!: () => void;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open };
}
