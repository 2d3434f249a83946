/** One value of a bucket. */
export interface KvEntry {
  key: string;
  value: Uint8Array;
  revision: number;
}
export interface KvChange {
  key: string;
  /** undefined: deleted. */
  value?: Uint8Array;
  revision: number;
}
export interface KvOptions {
  /** Values vanish this long after their last write; the server knows no time-out per key. */
  ttlMs?: number;
  /** Revisions kept per key; 1 unless given. */
  history?: number;
}
export interface KvWatch {
  /** Resolves once every value that existed at the start has been handed over. */
  ready: Promise<void>;
  stop(): void;
}

/** A bucket shared by all processes. Keys: `kvKey(...)`. Every failed condition is CONFLICT; a lost server is UNAVAILABLE. */
export interface Kv {
  readonly bucket: string;
  get(key: string): Promise<KvEntry | undefined>;
  /** Writes only if the key does not exist (or was deleted). Returns the revision. */
  create(key: string, value: Uint8Array | string): Promise<number>;
  /** Writes only if the key is still at `revision`. Returns the new revision. */
  update(key: string, value: Uint8Array | string, revision: number): Promise<number>;
  put(key: string, value: Uint8Array | string): Promise<number>;
  delete(key: string): Promise<void>;
  keys(): Promise<string[]>;
  /** All present values, then every change; survives reconnects (after one, present values may be handed over again). */
  watch(onChange: (change: KvChange) => void): Promise<KvWatch>;
}

/** Keys may not hold what model names hold: each part travels as base64url, joined by dots. */
export function kvKey(...parts: string[]): string {
  return parts.map((part) => Buffer.from(part, 'utf8').toString('base64url') || '-').join('.');
}

/** The parts of a key made by `kvKey`. */
export function kvKeyParts(key: string): string[] {
  return key.split('.').map((part) => (part === '-' ? '' : Buffer.from(part, 'base64url').toString('utf8')));
}
