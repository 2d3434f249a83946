import type { Address, Target } from './format';
import { withoutEndingSlash } from './sdk-request';

const known = new WeakMap<Target, Map<string, Address>>();

/** The URL of a route below the target's base, with its query. Targets never change, so each is put together once. */
export function addressOf(target: Target, path: string, defaults: Readonly<Record<string, string>>): Address {
  let routes = known.get(target);
  if (!routes) known.set(target, (routes = new Map<string, Address>()));
  let address = routes.get(path);
  if (!address) routes.set(path, (address = composed(target, path, defaults)));
  return address;
}

function composed(target: Target, path: string, defaults: Readonly<Record<string, string>>): Address {
  const query = new URLSearchParams(target.query).toString();
  const url = `${withoutEndingSlash(target.baseUrl)}${path}${query ? `?${query}` : ''}`;
  const lower = Object.fromEntries(Object.entries(target.headers).map(([name, value]) => [name.toLowerCase(), value]));
  return { url, headers: { 'content-type': 'application/json', ...defaults, ...credentials(target), ...lower } };
}

function credentials({ apiKey, quirks }: Target): Record<string, string> {
  if (apiKey === '') return {};
  switch (quirks.auth ?? 'bearer') {
    case 'bearer':
      return { authorization: `Bearer ${apiKey}` };
    case 'x-api-key':
      return { 'x-api-key': apiKey };
    case 'api-key':
      return { 'api-key': apiKey };
    case 'none':
      return {};
  }
}
