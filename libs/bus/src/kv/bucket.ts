import {
  Events,
  NatsError,
  StorageType,
  type JetStreamClient,
  type KV,
  type KvEntry as NatsEntry,
  type NatsConnection,
} from 'nats';
import { NightshiftError } from '@nightshift/contracts';
import { fromNats } from '../wire/nats-errors';
import type { Kv, KvChange, KvEntry, KvOptions, KvWatch } from './kv';

/** JetStream: the expected last sequence did not match. */
const wrongSequence = [10071, 10164];
const bucketBytes = 16 * 1024 * 1024;

function failed(thrown: unknown, what: string): NightshiftError {
  if (thrown instanceof NatsError && thrown.api_error && wrongSequence.includes(thrown.api_error.err_code ?? 0)) {
    return new NightshiftError('CONFLICT', `${what}: it was changed meanwhile`, { cause: thrown });
  }
  return fromNats(thrown, what);
}

function toChange(entry: NatsEntry): KvChange {
  const change: KvChange = { key: entry.key, revision: entry.revision };
  if (entry.operation === 'PUT') change.value = entry.value;
  return change;
}

/** A bucket of the real server behind the `Kv` interface. */
export async function openBucket(
  connection: NatsConnection,
  client: JetStreamClient,
  bucket: string,
  options: KvOptions,
): Promise<Kv> {
  let store: KV;
  try {
    store = await client.views.kv(bucket, {
      history: options.history ?? 1,
      storage: StorageType.File,
      max_bytes: bucketBytes,
      ...(options.ttlMs === undefined ? {} : { ttl: options.ttlMs }),
    });
  } catch (error) {
    throw fromNats(error, `bucket ${bucket}`);
  }
  const encoder = new TextEncoder();
  const bytes = (value: Uint8Array | string): Uint8Array => (typeof value === 'string' ? encoder.encode(value) : value);
  const attempt = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw failed(error, `${bucket}/${key}`);
    }
  };
  return {
    bucket,
    get: (key) =>
      attempt(key, async () => {
        const entry = await store.get(key);
        if (entry === null || entry.operation !== 'PUT') return undefined;
        return { key, value: entry.value, revision: entry.revision } satisfies KvEntry;
      }),
    create: (key, value) => attempt(key, () => store.create(key, bytes(value))),
    update: (key, value, revision) => attempt(key, () => store.update(key, bytes(value), revision)),
    put: (key, value) => attempt(key, () => store.put(key, bytes(value))),
    delete: (key) => attempt(key, () => store.delete(key)),
    keys: () =>
      attempt('keys', async () => {
        const names: string[] = [];
        for await (const name of await store.keys()) names.push(name);
        return names;
      }),
    watch: (onChange) => watchBucket(connection, store, bucket, onChange),
  };
}

/** Watches until stopped. The client's watch can miss a change around a server restart, so a reconnect starts it anew. */
async function watchBucket(
  connection: NatsConnection,
  store: KV,
  bucket: string,
  onChange: (change: KvChange) => void,
): Promise<KvWatch> {
  let stopped = false;
  let stopOne: () => void = () => undefined;
  let seen!: () => void;
  const ready = new Promise<void>((resolve) => (seen = resolve));

  async function once(): Promise<void> {
    const iterator = await store.watch({ initializedFn: seen });
    stopOne = () => iterator.stop();
    if (stopped) return iterator.stop();
    for await (const entry of iterator) onChange(toChange(entry));
  }
  async function forEver(): Promise<void> {
    while (!stopped && !connection.isClosed()) {
      try {
        await once();
      } catch {
        // Not reachable now; the next round starts anew.
      }
      if (!stopped) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const statuses = connection.status();
  async function restartOnReconnect(): Promise<void> {
    for await (const status of statuses) {
      if (stopped) return;
      if (status.type === Events.Reconnect) stopOne();
    }
  }
  const empty = await store.keys().then(
    async (names) => {
      for await (const _name of names) return false;
      return true;
    },
    () => false,
  );
  // The client never calls back for a bucket without values.
  if (empty) seen();
  void forEver();
  void restartOnReconnect();
  return {
    ready,
    stop() {
      stopped = true;
      stopOne();
      // The status iterator has no other way to end.
      (statuses as unknown as { stop?: () => void }).stop?.();
    },
  };
}
