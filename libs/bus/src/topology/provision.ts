import { AckPolicy, DeliverPolicy, DiscardPolicy, nanos, NatsError, ReplayPolicy, RetentionPolicy, StorageType } from 'nats';
import type { ConsumerConfig, ConsumerInfo, JetStreamManager, StreamConfig, StreamInfo } from 'nats';
import { NightshiftError } from '@nightshift/contracts';
import { fromNats } from '../wire/nats-errors';
import type { ConsumerPlan, StreamPlan } from './plan';

/** `fail`: a difference from the table stops the boot. `apply`: it is changed to what the table says. */
export type OnDrift = 'fail' | 'apply';

export function streamConfig(plan: StreamPlan): Partial<StreamConfig> & { name: string } {
  return {
    name: plan.name,
    subjects: [plan.subject],
    retention: plan.retention === 'workqueue' ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    discard: plan.discard === 'new' ? DiscardPolicy.New : DiscardPolicy.Old,
    storage: StorageType.File,
    max_bytes: plan.maxBytes,
    max_age: nanos(plan.maxAgeMs),
    duplicate_window: nanos(plan.duplicateWindowMs),
  };
}

/** No `backoff`: a list of delays overrides ack_wait. */
export function consumerConfig(plan: ConsumerPlan): Partial<ConsumerConfig> {
  return {
    durable_name: plan.name,
    filter_subject: plan.filter,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    replay_policy: ReplayPolicy.Instant,
    ack_wait: nanos(plan.ackWaitMs),
    max_deliver: plan.maxDeliver,
    max_ack_pending: plan.maxAckPending,
  };
}

/** What differs between what we want and what is there, one line per field; fields we do not set are the server's business. */
export function driftOf(name: string, wanted: object, found: object): string[] {
  return Object.entries(wanted)
    .filter(([field, value]) => JSON.stringify(value) !== JSON.stringify((found as Record<string, unknown>)[field]))
    .map(
      ([field, value]) =>
        `${name}.${field}: expected ${JSON.stringify(value)}, found ${JSON.stringify((found as Record<string, unknown>)[field])}`,
    );
}

/** JetStream's own codes. */
const streamNotFound = 10059;
const consumerNotFound = 10014;

function isApiError(thrown: unknown, code: number): boolean {
  return thrown instanceof NatsError && thrown.api_error?.err_code === code;
}

async function found<T>(info: Promise<T>, notFound: number): Promise<T | undefined> {
  try {
    return await info;
  } catch (error) {
    if (isApiError(error, notFound)) return undefined;
    throw error;
  }
}

function drifted(faults: string[]): NightshiftError {
  return new NightshiftError(
    'FAILED_PRECONDITION',
    `NATS differs from the routes table (NATS_DRIFT=apply changes it)\n  ${faults.join('\n  ')}`,
    {
      faults,
    },
  );
}

/** Creates the stream unless it is there. Seven services do this at once: the loser of the race finds the winner's stream. */
export async function ensureStream(manager: JetStreamManager, plan: StreamPlan, onDrift: OnDrift): Promise<void> {
  const wanted = streamConfig(plan);
  try {
    let info = await findStream(manager, plan);
    // The same configuration twice is no error for the server, so losing the race is not either.
    info ??= await manager.streams.add(wanted);
    const faults = driftOf(plan.name, wanted, info.config);
    if (faults.length === 0) return;
    if (onDrift === 'fail') throw drifted(faults);
    await manager.streams.update(plan.name, { ...info.config, ...wanted });
  } catch (error) {
    throw fromNats(error, `stream ${plan.name}`);
  }
}

export async function ensureConsumer(manager: JetStreamManager, plan: ConsumerPlan, onDrift: OnDrift): Promise<void> {
  const wanted = consumerConfig(plan);
  try {
    let info = await findConsumer(manager, plan);
    info ??= await manager.consumers.add(plan.stream, wanted);
    const faults = driftOf(`${plan.stream}/${plan.name}`, wanted, info.config);
    if (faults.length === 0) return;
    if (onDrift === 'fail') throw drifted(faults);
    await manager.consumers.update(plan.stream, plan.name, wanted);
  } catch (error) {
    throw fromNats(error, `consumer ${plan.stream}/${plan.name}`);
  }
}

/** undefined = it is not there. */
export function findStream(manager: JetStreamManager, plan: StreamPlan): Promise<StreamInfo | undefined> {
  return found(manager.streams.info(plan.name), streamNotFound);
}

/** undefined = it is not there, or its stream is not. */
export async function findConsumer(manager: JetStreamManager, plan: ConsumerPlan): Promise<ConsumerInfo | undefined> {
  return found(found(manager.consumers.info(plan.stream, plan.name), consumerNotFound), streamNotFound);
}

/** Deletes a durable and what still waits for it; fine when it is gone already. */
export async function removeConsumer(manager: JetStreamManager, plan: ConsumerPlan): Promise<void> {
  try {
    await manager.consumers.delete(plan.stream, plan.name);
  } catch (error) {
    if (!isApiError(error, consumerNotFound)) throw fromNats(error, `consumer ${plan.stream}/${plan.name}`);
  }
  // On a work queue nobody else would ever take these.
  await manager.streams.purge(plan.stream, { filter: plan.filter });
}
