import { readFileSync } from 'node:fs';
import { connect, Events, type ConnectionOptions, type NatsConnection } from 'nats';
import type { Logger, Metrics } from '@nightshift/metrics';
import { fromNats } from './wire/nats-errors';

export interface ConnectionSettings {
  /** One URL or several, separated by commas. */
  url: string;
  /** Name of the service; also names its inbox prefix, so that no other service may read its replies. */
  service: string;
  instance: string;
  user?: string;
  password?: string;
  /** PEM file of the authority; switches TLS on. */
  caFile?: string;
  /** For tools that report: no waiting for a server that is not there. */
  failFast?: boolean;
}

/** What subjects of replies to a service start with. */
export function inboxPrefix(service: string): string {
  return `_INBOX_${service.replace(/[^A-Za-z0-9]/g, '_')}`;
}

/**
 * Connects, and keeps connecting without limit: the client's own default gives up after 20 s for good. Also the first
 * connection is waited for, so that a service may start before its server.
 */
export async function connectNats(settings: ConnectionSettings, metrics: Metrics, logger: Logger): Promise<NatsConnection> {
  const options: ConnectionOptions = {
    servers: settings.url.split(',').map((url) => url.trim()),
    name: `${settings.service} ${settings.instance}`,
    inboxPrefix: inboxPrefix(settings.service),
    maxReconnectAttempts: -1,
    waitOnFirstConnect: settings.failFast !== true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    timeout: 5_000,
    pingInterval: 20_000,
    maxPingOut: 2,
    ignoreClusterUpdates: false,
  };
  if (settings.user !== undefined) options.user = settings.user;
  if (settings.password !== undefined) options.pass = settings.password;
  if (settings.caFile !== undefined) options.tls = { ca: readFileSync(settings.caFile, 'utf8') };
  const connection = await connect(options).catch((error: unknown) => {
    throw fromNats(error, `NATS at ${settings.url.replace(/\/\/[^@/]*@/, '//')}`);
  });
  metrics.gauge('bus_connected').set({}, 1);
  void watch(connection, metrics, logger);
  return connection;
}

async function watch(connection: NatsConnection, metrics: Metrics, logger: Logger): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === Events.Disconnect) {
      metrics.gauge('bus_connected').set({}, 0);
      logger.warn({ server: status.data }, 'lost NATS, reconnecting');
    } else if (status.type === Events.Reconnect) {
      metrics.gauge('bus_connected').set({}, 1);
      metrics.counter('bus_reconnects').inc();
      logger.info({ server: status.data }, 'reconnected to NATS');
    } else if (status.type === Events.Error) {
      logger.error({ error: String(status.data) }, 'NATS reported an error');
    }
  }
}
