import { claimBuckets, consumerName, inboxPrefix, keepAliveSubject, streamName, uncountedBucket } from '@nightshift/bus';
import { routes, serviceNames, type Route, type ServiceName } from '@nightshift/contracts';
import { tlsBlock, type ServerTls } from './tls';

export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** KV bucket → who writes it; everybody listed in `readers` watches it. */
export const buckets: Readonly<Record<string, { writer: ServiceName; readers: readonly ServiceName[] }>> = {
  windows: { writer: 'model-registry', readers: ['orchestrator', 'compactor', 'provider-gateway', 'api'] },
  provider_health: { writer: 'provider-gateway', readers: [] },
};

const all = Object.values(routes) as Route[];
const withKey = (route: Route) =>
  route.key === 'none' ? route.subject : `${route.subject}.${route.key === 'team-task' ? '*.*' : '*'}`;
const has = (services: readonly ServiceName[], service: ServiceName) => services.includes(service);

/** What a service may do with a stream: look, create it when it is missing, nothing else. */
const streamApi = (stream: string) => [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.CREATE.${stream}`];
const provisionApi = (stream: string, durable: string) => [
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}.>`,
];
const durableApi = (stream: string, durable: string) => [
  ...provisionApi(stream, durable),
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
];
/** Reading a stream with a consumer of one's own that vanishes with the process. */
const ephemeralApi = (stream: string) => [
  `$JS.API.CONSUMER.CREATE.${stream}`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.FC.${stream}.>`,
];

function publishOf(route: Route, service: ServiceName): string[] {
  const stream = streamName(route);
  const sends = has(route.senders, service);
  switch (route.delivery) {
    case 'request':
      return sends ? [withKey(route), ...(route.long ? [keepAliveSubject(route.owner, '*')] : [])] : [];
    case 'live':
      return route.owner === service ? [withKey(route)] : [];
    case 'event':
      if (route.owner === service) return [route.subject, ...streamApi(stream)];
      return sends ? [...streamApi(stream), ...ephemeralApi(stream)] : [];
    case 'command': {
      const own = route.owner === service ? durableApi(stream, route.key === 'none' ? consumerName(service) : '*') : [];
      // What the server has given up is read out of the stream and put away.
      if (route.owner === service) own.push(`$JS.API.STREAM.MSG.GET.${stream}`, `$JS.API.STREAM.MSG.DELETE.${stream}`);
      // Senders make sure that the owner's durable exists (a queue may be filled before its first worker starts) and read its depth.
      const sent = sends ? [withKey(route), ...provisionApi(stream, route.key === 'none' ? consumerName(route.owner) : '*')] : [];
      const keyed =
        sends && route.key !== 'none'
          ? [...durableApi(stream, '*'), `$JS.API.CONSUMER.DELETE.${stream}.*`, `$JS.API.STREAM.PURGE.${stream}`]
          : [];
      return own.length + sent.length > 0 ? [...streamApi(stream), ...own, ...sent, ...keyed] : [];
    }
  }
}

function subscribeOf(route: Route, service: ServiceName): string[] {
  if (route.delivery === 'request' && has(route.answeredBy, service))
    return [withKey(route), ...(route.long ? [keepAliveSubject(service, '*')] : [])];
  if (route.delivery === 'live' && has(route.senders, service)) return [withKey(route)];
  const durable =
    (route.delivery === 'command' && route.owner === service) || (route.delivery === 'event' && has(route.senders, service));
  return durable
    ? ['MAX_DELIVERIES', 'MSG_TERMINATED'].map((event) => `$JS.EVENT.ADVISORY.CONSUMER.${event}.${streamName(route)}.*`)
    : [];
}

function bucketApi(stream: string, subjects: string): { read: string[]; write: string[] } {
  return {
    read: [
      ...streamApi(stream),
      ...ephemeralApi(stream),
      `$JS.API.DIRECT.GET.${stream}`,
      `$JS.API.DIRECT.GET.${stream}.>`,
      `$JS.API.STREAM.MSG.GET.${stream}`,
    ],
    write: [subjects],
  };
}

/**
 * The least a service needs, derived from the routes table: what it sends, what it answers, its own replies and its own
 * consumers. Replies to requests are allowed by the server as answers (`allow_responses`), not as subjects.
 */
export function permissionsOf(service: ServiceName): Permissions {
  const publish = all.flatMap((route) => publishOf(route, service));
  for (const [bucket, { writer, readers }] of Object.entries(buckets)) {
    const api = bucketApi(`KV_${bucket}`, `$KV.${bucket}.>`);
    if (writer === service) publish.push(...api.read, ...api.write);
    else if (has(readers, service)) publish.push(...api.read);
  }
  for (const bucket of claimBuckets) {
    const api = bucketApi(`OBJ_${bucket}`, `$O.${bucket}.>`);
    publish.push(...api.read, ...api.write, `$JS.API.STREAM.PURGE.OBJ_${bucket}`);
  }
  // Whoever handles commands notes the deliveries that do not count.
  if (all.some((route) => route.delivery === 'command' && route.owner === service)) {
    const api = bucketApi(`KV_${uncountedBucket}`, `$KV.${uncountedBucket}.>`);
    publish.push(...api.read, ...api.write);
  }
  // The object store looks up its stream by subject before it reads.
  publish.push('$JS.API.INFO', '$JS.API.STREAM.NAMES');
  const subscribe = [...all.flatMap((route) => subscribeOf(route, service)), `${inboxPrefix(service)}.>`];
  return { publish: [...new Set(publish)].sort(), subscribe: [...new Set(subscribe)].sort() };
}

/** Who looks at the server for `nightshift doctor`: sees that streams and consumers are as they should be, no message of any. */
export const doctor = 'doctor';
const doctorPermissions: Permissions = {
  publish: ['$JS.API.CONSUMER.INFO.*.*', '$JS.API.INFO', '$JS.API.STREAM.INFO.*'],
  subscribe: [`${inboxPrefix(doctor)}.>`],
};
export type NatsUser = ServiceName | typeof doctor;

/** The environment variable that holds a user's password. */
export const passwordVariable = (service: NatsUser) => `NATS_PASSWORD_${service.replaceAll('-', '_').toUpperCase()}`;

export interface ServerOptions {
  readonly storeDir: string;
  /** Literal passwords for tests; a deployment reads them from the server's environment. */
  readonly password?: (user: NatsUser) => string;
  readonly port?: number;
  readonly monitorPort?: number;
  readonly host?: string;
  /** Plain TCP when absent. */
  readonly tls?: ServerTls;
}

/** `nats.conf`: one account, one user per service and one for the doctor, JetStream with our limits. */
export function natsConfig({
  storeDir,
  password,
  port = 4222,
  monitorPort = 8222,
  host = '0.0.0.0',
  tls,
}: ServerOptions): string {
  const list = (subjects: readonly string[]) => subjects.map((subject) => `          ${JSON.stringify(subject)}`).join('\n');
  const names: readonly NatsUser[] = [...serviceNames, doctor];
  const users = names.map((service) => {
    const { publish, subscribe } = service === doctor ? doctorPermissions : permissionsOf(service);
    return `      {
        user: ${JSON.stringify(service)}
        password: ${password ? JSON.stringify(password(service)) : `$${passwordVariable(service)}`}
        permissions: {
          publish: [
${list(publish)}
          ]
          subscribe: [
${list(subscribe)}
          ]
          # A reply may be several messages: heartbeats, then the result.
          allow_responses: { max: 100000, expires: "1h" }
        }
      }`;
  });
  return `host: ${host}
port: ${port}
# For probes, Prometheus exporters and the scaler of the compactor; keep it inside the cluster.
http: "${host}:${monitorPort}"
server_name: nightshift
max_payload: 8388608
${tls ? tlsBlock(tls) : ''}jetstream: {
  store_dir: ${JSON.stringify(storeDir)}
  max_memory_store: 64M
  max_file_store: 8G
}
accounts: {
  NIGHTSHIFT: {
    jetstream: { max_memory: 64M, max_file: 8G, max_streams: 64, max_consumers: 4096 }
    users: [
${users.join('\n')}
    ]
  }
}
`;
}
