/** The KV bucket that the registry writes and everybody else watches. */
export const windowBucket = 'windows';
/** Written after every known window has been: a copy without it may still read a known window as unknown. */
export const seededKey = 'seeded';

/** Names one model at one place. `endpoint` is the provider's base URL; empty = its configured one. */
export interface WindowName {
  provider: string;
  endpoint: string;
  model: string;
  /** Set for a window that one team has overridden. */
  team?: string;
}

const separator = '\0';
const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');
const decode = (text: string): string => Buffer.from(text, 'base64url').toString('utf8');

/** base64url, since model names hold characters that keys may not (`:`, `/`, blanks). */
export function windowKey(name: WindowName): string {
  const triple = encode([name.provider, name.endpoint, name.model].join(separator));
  return name.team === undefined ? `w.${triple}` : `t.${encode(name.team)}.${triple}`;
}

/** The inverse; undefined for a key that is no window (`seeded`, or one of a later version). */
export function parseWindowKey(key: string): WindowName | undefined {
  const [kind, ...parts] = key.split('.');
  const [triple, team] = kind === 'w' ? [parts[0]] : kind === 't' ? [parts[1], parts[0]] : [];
  if (triple === undefined) return undefined;
  const [provider, endpoint, model, ...rest] = decode(triple).split(separator);
  if (!provider || endpoint === undefined || !model || rest.length > 0) return undefined;
  return team === undefined ? { provider, endpoint, model } : { provider, endpoint, model, team: decode(team) };
}
