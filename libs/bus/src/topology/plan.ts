import { routes, subjectOf, type CommandRoute, type EventRoute, type Route } from '@nightshift/contracts';

/** A route that travels through a stream. */
export type StreamRoute = CommandRoute | EventRoute;

export interface StreamPlan {
  name: string;
  subject: string;
  retention: 'workqueue' | 'limits';
  /** `new`: a full queue refuses, so that senders feel it. Events are dropped oldest first: no state may depend on one. */
  discard: 'new' | 'old';
  maxBytes: number;
  /** 0 = for ever. */
  maxAgeMs: number;
  duplicateWindowMs: number;
}
export interface ConsumerPlan {
  stream: string;
  name: string;
  /** Exactly one per durable: the server knows no lists before 2.10. */
  filter: string;
  ackWaitMs: number;
  maxDeliver: number;
  maxAckPending: number;
}

/** Counted deliveries of a message before it is put away as a dead letter. */
export const deliveryLimit = 5;
/** The server's own backstop: twice the limit, since naks for infrastructure faults are not counted by us, but are by it. */
export const maxDeliver = 2 * deliveryLimit;
/** Delayed naks occupy this window too, so it is far above replicas × concurrency. */
export const maxAckPending = 20_000;
export const duplicateWindowMs = 120_000;
/** Ids only: 64 MiB hold more than 200 000 commands, and seven queues still fit a small disk. */
const commandBytes = 64 * 1024 * 1024;
const eventBytes = 32 * 1024 * 1024;
const eventAgeMs = 3_600_000;

export function isStreamRoute(route: Route): route is StreamRoute {
  return route.delivery === 'command' || route.delivery === 'event';
}

/** `taskStep` → `TASK_STEP`. One stream per route: a full queue of one kind never blocks another. */
export function streamName(route: Route): string {
  return route.name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** The durable of a service on a route: its own name, with the key of a keyed route behind it. */
export function consumerName(service: string, key?: string): string {
  return key === undefined ? service : `${service}-${key}`;
}

export function streamPlan(route: StreamRoute): StreamPlan {
  const command = route.delivery === 'command';
  return {
    name: streamName(route),
    subject: route.key === 'none' ? route.subject : `${route.subject}.${route.key === 'team-task' ? '*.*' : '*'}`,
    retention: command ? 'workqueue' : 'limits',
    discard: command ? 'new' : 'old',
    maxBytes: command ? commandBytes : eventBytes,
    maxAgeMs: command ? 0 : eventAgeMs,
    duplicateWindowMs,
  };
}

export function consumerPlan(route: StreamRoute, service: string, ackWaitMs: number, key?: string): ConsumerPlan {
  return {
    stream: streamName(route),
    name: consumerName(service, key),
    filter: subjectOf(route, key),
    ackWaitMs,
    maxDeliver,
    maxAckPending,
  };
}

/** The streams a service needs: those of the routes it owns, sends or reads. */
export function streamRoutesOf(service: string): StreamRoute[] {
  return (Object.values(routes) as Route[])
    .filter(isStreamRoute)
    .filter((route) => route.owner === service || (route.senders as readonly string[]).includes(service));
}

/** Every stream with the durables that exist as long as the system does (runners come and go). For documents and checks. */
export function topology(ackWaitMs: number): { streams: StreamPlan[]; consumers: ConsumerPlan[] } {
  const all = (Object.values(routes) as Route[]).filter(isStreamRoute);
  return {
    streams: all.map(streamPlan),
    consumers: all
      .filter((route) => route.delivery === 'command' && route.key === 'none')
      .map((route) => consumerPlan(route, route.owner, ackWaitMs)),
  };
}
