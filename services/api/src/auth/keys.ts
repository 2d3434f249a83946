import { createHash } from 'node:crypto';

/** What a key may do: `reader` reads, `member` works with tasks, `admin` manages keys, windows and dead letters too. */
export const roles = ['reader', 'member', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Who a request comes from. The team is taken from the key alone, never from the request. */
export interface Caller {
  teamId: string;
  keyId: string;
  role: Role;
}

const tokenStart = 'nsk_';
const prefixLength = 12;
const secretBytes = 32;

/** A key as the user sees it once, and what is stored of it. */
export interface NewKey {
  token: string;
  /** The first 12 characters: enough to recognise a key in a list, useless to guess it. */
  prefix: string;
  /** SHA-256 of the token, hex. A random 256-bit secret needs no slow hash. */
  hash: string;
}

/** @param secret exactly 32 random bytes. */
export function keyOf(secret: Uint8Array): NewKey {
  if (secret.length !== secretBytes) throw new RangeError(`a key has ${secretBytes} random bytes, got ${secret.length}`);
  const token = tokenStart + Buffer.from(secret).toString('base64url');
  return storedKey(token);
}

/** What is stored of an existing token. */
export function storedKey(token: string): NewKey {
  return { token, prefix: token.slice(0, prefixLength), hash: hashOf(token) };
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** True for text that can be one of our keys; anything else is refused without asking the database. */
export function looksLikeKey(token: string): boolean {
  return /^nsk_[\w-]{43}$/.test(token);
}

/** The token of a request: `Authorization: Bearer …` or `x-api-key: …`, as agents and SDKs send it. */
export function tokenOf(headers: Readonly<Record<string, string | string[] | undefined>>): string | undefined {
  const apiKey = headers['x-api-key'];
  if (typeof apiKey === 'string' && apiKey !== '') return apiKey.trim();
  const authorization = headers.authorization;
  if (typeof authorization !== 'string') return undefined;
  return /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
}

/** True when `role` includes everything that `needed` may do. */
export function mayAct(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}
