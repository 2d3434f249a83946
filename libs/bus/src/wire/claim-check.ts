import { randomUUID } from 'node:crypto';
import { nanos, StorageType, type JetStreamClient, type ObjectStore } from 'nats';
import { NightshiftError } from '@nightshift/contracts';
import type { Metrics } from '@nightshift/metrics';
import { fromNats } from './nats-errors';

/** Headers count against max_payload too. */
const headroomBytes = 16 * 1024;
/** Server 2.9 knows a time-out per bucket only: the smallest class of at least twice the deadline is used. Seconds. */
const classes = [60, 600, 3600] as const;
/** The object-store buckets of all services. */
export const claimBuckets = classes.map((seconds) => `claims_${seconds}`);
const bucketBytes = 128 * 1024 * 1024;

/** Bodies above the server's limit travel through the object store; the message carries `bucket/name`. */
export class ClaimCheck {
  private readonly buckets = new Map<string, Promise<ObjectStore>>();

  constructor(
    private readonly client: JetStreamClient,
    /** The server's max_payload; asked each time, since it may change with a reconnect. */
    private readonly maxPayload: () => number,
    private readonly metrics: Metrics,
  ) {}

  needed(body: Uint8Array): boolean {
    return body.length > this.maxPayload() - headroomBytes;
  }

  /** Puts the body away for at least twice the time left; returns what the header says. */
  async put(body: Uint8Array, remainingMs: number, direction: 'request' | 'reply'): Promise<string> {
    const seconds = classes.find((one) => one * 1000 >= 2 * remainingMs) ?? classes[classes.length - 1]!;
    const bucket = `claims_${seconds}`;
    const name = randomUUID();
    try {
      const store = await this.bucket(bucket, seconds);
      await store.putBlob({ name }, body);
    } catch (error) {
      throw fromNats(error, 'claim check');
    }
    this.metrics.counter('bus_claim_checks').inc({ direction });
    return `${bucket}/${name}`;
  }

  /** Fetches the body and frees the room. Throws NOT_FOUND when it is gone. */
  async take(reference: string): Promise<Uint8Array> {
    const [bucket = '', name = ''] = reference.split('/');
    const seconds = Number(bucket.slice('claims_'.length));
    if (!classes.some((one) => one === seconds))
      throw new NightshiftError('INVALID_ARGUMENT', `claim check ${reference}: no such bucket`);
    try {
      const store = await this.bucket(bucket, seconds);
      const body = await store.getBlob(name);
      if (body === null) throw new NightshiftError('NOT_FOUND', `claim check ${reference} is gone`);
      // The time-out of the bucket frees what could not be deleted here.
      store.delete(name).catch(() => undefined);
      return body;
    } catch (error) {
      throw fromNats(error, 'claim check');
    }
  }

  private bucket(name: string, seconds: number): Promise<ObjectStore> {
    let opened = this.buckets.get(name);
    if (opened === undefined) {
      opened = this.client.views.os(name, { ttl: nanos(seconds * 1000), storage: StorageType.File, max_bytes: bucketBytes });
      this.buckets.set(name, opened);
      opened.catch(() => this.buckets.delete(name));
    }
    return opened;
  }
}
