import { Inject, Injectable } from '@nestjs/common';
import { NightshiftError } from '@nightshift/contracts';
import type { Endpoint } from '../http/endpoint';
import { hashOf, looksLikeKey, mayAct, tokenOf, type Caller } from './keys';
import { KeysStore } from './keys.store';
import { take, type Bucket } from './rate-limit';

const maxBuckets = 10_000;

/** Decides who a request comes from and whether it may go on; runs before the body is read. */
@Injectable()
export class Authenticate {
  private readonly buckets = new Map<string, Bucket>();

  constructor(@Inject(KeysStore) private readonly keys: KeysStore) {}

  /**
   * @param perMinute requests that one key may make.
   * @throws NightshiftError UNAUTHENTICATED, PERMISSION_DENIED, or BUSY with a hint.
   */
  async caller(headers: Parameters<typeof tokenOf>[0], endpoint: Endpoint, perMinute: number, nowMs: number): Promise<Caller> {
    const token = tokenOf(headers);
    if (token === undefined) {
      throw new NightshiftError('UNAUTHENTICATED', 'send an API key: "Authorization: Bearer nsk_…" or "x-api-key: nsk_…"');
    }
    const caller = looksLikeKey(token) ? await this.keys.callerOf(hashOf(token)) : undefined;
    if (!caller) throw new NightshiftError('UNAUTHENTICATED', 'the API key is unknown or revoked');
    this.limit(caller.keyId, perMinute, nowMs);
    if (endpoint.role !== 'public' && !mayAct(caller.role, endpoint.role)) {
      throw new NightshiftError(
        'PERMISSION_DENIED',
        `a key with the role ${endpoint.role} is needed, this one is ${caller.role}`,
      );
    }
    return caller;
  }

  private limit(keyId: string, perMinute: number, nowMs: number): void {
    const { bucket, waitMs } = take(this.buckets.get(keyId), nowMs, perMinute);
    // Forgetting all of them lets each key burst once more; that is cheaper than tracking which is oldest.
    if (this.buckets.size >= maxBuckets) this.buckets.clear();
    this.buckets.set(keyId, bucket);
    if (waitMs > 0) {
      throw new NightshiftError('BUSY', `this key may make ${perMinute} requests a minute`, { retryAfterMs: waitMs });
    }
  }
}
