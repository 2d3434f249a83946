import type { JetStreamManager, NatsConnection } from 'nats';
import { maxPayloadBytes } from '@nightshift/contracts';
import { createLogger, createMetrics } from '@nightshift/metrics';
import { connectNats, type ConnectionSettings } from '../connection';
import { topology, type ConsumerPlan, type StreamPlan } from './plan';
import { consumerConfig, driftOf, findConsumer, findStream, streamConfig } from './provision';

/** A queue as the server sees it now. */
export interface QueueState {
  stream: string;
  consumer: string;
  pending: number;
  inFlight: number;
  /** Requests for messages that wait at the server: at least one per idle worker. */
  waitingPulls: number;
  /** Age of the first message, in milliseconds; 0 for an empty queue. */
  oldestMs: number;
}
export interface NatsReport {
  version: string;
  maxPayload: number;
  /** What is wrong, one line each: nothing of it stops a running system, all of it will hurt. */
  faults: string[];
  queues: QueueState[];
}

const oldestVersion = [2, 9, 0];

function olderThan(version: string, wanted: readonly number[]): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10));
  for (const [index, want] of wanted.entries()) {
    const have = parts[index] ?? 0;
    if (have !== want) return have < want;
  }
  return false;
}

/**
 * Looks at the server, its limits, and every stream and consumer of the table, and changes nothing. Fails with UNAVAILABLE
 * when the server is not there. @param ackWaitMs what the services are configured with.
 */
export async function inspectNats(
  settings: Omit<ConnectionSettings, 'service' | 'instance'>,
  ackWaitMs: number,
): Promise<NatsReport> {
  const quiet = { metrics: createMetrics('doctor'), logger: createLogger({ service: 'doctor', level: 'silent' }) };
  const connection = await connectNats(
    { ...settings, service: 'doctor', instance: 'doctor', failFast: true },
    quiet.metrics,
    quiet.logger,
  );
  try {
    return await report(connection, await connection.jetstreamManager({ checkAPI: false }), ackWaitMs);
  } finally {
    await connection.close();
  }
}

async function report(connection: NatsConnection, manager: JetStreamManager, ackWaitMs: number): Promise<NatsReport> {
  const info = connection.info;
  const version = info?.version ?? 'unknown';
  const maxPayload = info?.max_payload ?? 0;
  const faults: string[] = [];
  if (olderThan(version, oldestVersion))
    faults.push(`nats-server: expected ${oldestVersion.join('.')} or newer, found ${version}`);
  if (maxPayload < maxPayloadBytes) {
    faults.push(
      `max_payload: expected ${maxPayloadBytes}, found ${maxPayload}: larger bodies take the detour through the object store`,
    );
  }
  if (info?.jetstream !== true) return { version, maxPayload, faults: [...faults, 'JetStream: expected to be on'], queues: [] };
  const plan = topology(ackWaitMs);
  for (const stream of plan.streams) faults.push(...(await streamFaults(manager, stream)));
  const queues: QueueState[] = [];
  for (const consumer of plan.consumers) {
    const found = await findConsumer(manager, consumer);
    if (found === undefined) {
      faults.push(
        `${consumer.stream}/${consumer.name}: expected this consumer, found none (its owner or a sender creates it at start)`,
      );
      continue;
    }
    faults.push(...driftOf(`${consumer.stream}/${consumer.name}`, consumerConfig(consumer), found.config));
    queues.push({
      stream: consumer.stream,
      consumer: consumer.name,
      pending: found.num_pending,
      inFlight: found.num_ack_pending,
      waitingPulls: found.num_waiting,
      oldestMs: found.num_pending + found.num_ack_pending === 0 ? 0 : await oldestMs(manager, consumer),
    });
  }
  return { version, maxPayload, faults, queues };
}

async function streamFaults(manager: JetStreamManager, plan: StreamPlan): Promise<string[]> {
  const found = await findStream(manager, plan);
  if (found === undefined) return [`${plan.name}: expected this stream, found none (services create it at start)`];
  return driftOf(plan.name, streamConfig(plan), found.config);
}

async function oldestMs(manager: JetStreamManager, consumer: ConsumerPlan): Promise<number> {
  const { state } = await manager.streams.info(consumer.stream);
  return state.messages === 0 ? 0 : Math.max(0, Date.now() - Date.parse(String(state.first_ts)));
}
