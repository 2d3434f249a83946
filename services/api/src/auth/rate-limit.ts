/** A token bucket per key. In this process only: with N replicas a key gets up to N times the rate. */
export interface Bucket {
  tokens: number;
  atMs: number;
}

/**
 * Takes one token.
 * @param perMinute refill rate; the bucket holds ten seconds of it, at least 10, so that short bursts pass.
 * @returns the bucket afterwards and how long to wait (0 = go on), in milliseconds.
 */
export function take(bucket: Bucket | undefined, nowMs: number, perMinute: number): { bucket: Bucket; waitMs: number } {
  const size = Math.max(10, perMinute / 6);
  const perMs = perMinute / 60_000;
  const filled = bucket ? Math.min(size, bucket.tokens + (nowMs - bucket.atMs) * perMs) : size;
  if (filled >= 1) return { bucket: { tokens: filled - 1, atMs: nowMs }, waitMs: 0 };
  return { bucket: { tokens: filled, atMs: nowMs }, waitMs: Math.ceil((1 - filled) / perMs) };
}
