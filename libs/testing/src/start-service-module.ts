import { startService } from '@nightshift/bus';
import type { RunningService, ServiceOptions } from '@nightshift/bus';
import { loadConfig, serviceSettings } from '@nightshift/config';

export interface ServiceModuleOptions extends Omit<ServiceOptions, 'config' | 'settings'> {
  natsUrl: string;
  /** Settings beyond the test defaults (silent log, 5 s acknowledgement, 2 s shutdown). */
  env?: Readonly<Record<string, string>>;
}

/**
 * Boots a service's own module in this process on a real NATS server, as its main does; stop it in afterAll. Settings a
 * module needs of its own are passed to its forRoot by the spec.
 */
export function startServiceModule(options: ServiceModuleOptions): Promise<RunningService> {
  const { natsUrl, env, ...rest } = options;
  const config = loadConfig(serviceSettings, {
    NATS_URL: natsUrl,
    LOG_LEVEL: 'silent',
    ACK_WAIT_MS: '5000',
    SHUTDOWN_GRACE_MS: '2000',
    INSTANCE_ID: `${options.service}-test`,
    ...env,
  });
  return startService({ ...rest, config });
}
