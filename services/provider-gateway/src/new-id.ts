import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const pool = new Uint8Array(16 * 256);
let used = pool.length;

/** Random bytes from a pool: asking the kernel for 16 at a time costs more than the id itself. */
function rng(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool.subarray(used, (used += 16));
}

/** A UUID v7. */
export const newId = (): string => v7({ rng });
