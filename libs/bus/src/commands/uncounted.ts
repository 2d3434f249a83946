import type { Bus } from '../bus';
import type { Delivered } from './delivered';

/** A message is settled one way or the other long before. */
const keptMs = 3_600_000;
/** Written by every service that handles commands or events. */
export const uncountedBucket = 'uncounted_deliveries';

/**
 * Deliveries that do not count against a message's limit. The server counts all of them, so the difference is shared between
 * replicas in a bucket: a database that is away for two minutes must not turn every waiting command into a dead letter.
 */
export class Uncounted {
  constructor(private readonly bus: Bus) {}

  /** Asked only for messages near their limit; unknown means none. */
  async of(message: Delivered): Promise<number> {
    const kv = await this.bus.kv(uncountedBucket, { ttlMs: keptMs });
    const entry = await kv.get(this.key(message));
    return entry === undefined ? 0 : Number(Buffer.from(entry.value).toString());
  }

  /** One holder at a time has a message, so a plain read and write cannot lose a count. */
  async add(message: Delivered): Promise<void> {
    const kv = await this.bus.kv(uncountedBucket, { ttlMs: keptMs });
    await kv.put(this.key(message), String((await this.of(message)) + 1));
  }

  private key(message: Delivered): string {
    return `${message.stream}.${message.consumer}.${message.streamSeq}`;
  }
}
