import { take, type Bucket } from './rate-limit';

describe('take', () => {
  it('lets a burst through, then names the wait until the next token', () => {
    let bucket: Bucket | undefined;
    for (let i = 0; i < 10; i += 1) {
      const taken = take(bucket, 0, 60);
      expect(taken.waitMs).toBe(0);
      bucket = taken.bucket;
    }
    expect(take(bucket, 0, 60).waitMs).toBe(1000);
    expect(take(bucket, 1000, 60).waitMs).toBe(0);
  });

  it('never holds more than its size', () => {
    const { bucket } = take({ tokens: 0, atMs: 0 }, 1_000_000_000, 6000);
    expect(bucket.tokens).toBe(999);
  });
});
