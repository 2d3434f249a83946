import { readFileSync } from 'node:fs';
import { connect, Events, NatsError, type ConnectionOptions, type NatsConnection } from 'nats';
import { NightshiftError } from '@nightshift/contracts';
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
  /** PEM files of this client, where the server asks for them. */
  certFile?: string;
  keyFile?: string;
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
    // Two stack traces per request otherwise, for an error that hardly ever comes.
    noAsyncTraces: true,
  };
  if (settings.user !== undefined) options.user = settings.user;
  if (settings.password !== undefined) options.pass = settings.password;
  if (settings.caFile !== undefined || settings.certFile !== undefined) options.tls = tlsOf(settings);
  const connection = await connect(options).catch((error: unknown) => {
    const where = `NATS at ${settings.url.replace(/\/\/[^@/]*@/, '//')}`;
    // What TLS refuses comes as an error of node, not of the client.
    if (!(error instanceof NatsError))
      throw new NightshiftError('UNAVAILABLE', `${where}: ${(error as Error).message}`, { cause: error });
    throw fromNats(error, where);
  });
  metrics.gauge('bus_connected').set({}, 1);
  void watch(connection, metrics, logger);
  return connection;
}

function tlsOf({ caFile, certFile, keyFile }: ConnectionSettings): NonNullable<ConnectionOptions['tls']> {
  const read = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch (cause) {
      throw new NightshiftError('INVALID_ARGUMENT', `cannot read ${file} for TLS with NATS`, { cause });
    }
  };
  return {
    ...(caFile === undefined ? {} : { ca: read(caFile) }),
    ...(certFile === undefined ? {} : { cert: read(certFile) }),
    ...(keyFile === undefined ? {} : { key: read(keyFile) }),
  };
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
