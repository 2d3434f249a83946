import { createHash } from 'node:crypto';

export function sha256(content: Uint8Array): Buffer {
  return createHash('sha256').update(content).digest();
}

/** The id of a result whose caller chose none: the same bytes in the same root are the same record. */
export function derivedId(rootId: string, hash: Uint8Array): string {
  return `r${createHash('sha256').update(rootId).update('\0').update(hash).digest('hex').slice(0, 24)}`;
}
