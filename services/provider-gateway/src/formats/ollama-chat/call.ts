import type { Exchange } from '../../transport/exchange';
import { addressOf } from '../address';
import type { Address, Target } from '../format';
import { withoutEndingSlash } from '../sdk-request';

/** POST /api/chat; a base that ends in the compatible route's /v1 means the same server. */
export function address(target: Target): Address {
  return addressOf({ ...target, baseUrl: withoutEndingSlash(target.baseUrl).replace(/\/(v1|api)$/, '') }, '/api/chat', {});
}

/** No official SDK is wanted for one plain request. */
export async function call(target: Target, body: string, exchange: Exchange): Promise<void> {
  const { url, headers } = address(target);
  await exchange.send(url, 'POST', headers, body);
}
