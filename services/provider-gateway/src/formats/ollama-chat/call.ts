import type { Exchange } from '../../transport/exchange';
import type { Target } from '../format';
import { withoutEndingSlash } from '../sdk-request';

/** POST /api/chat; no official SDK is wanted for one plain request. */
export async function call(target: Target, body: string, exchange: Exchange): Promise<void> {
  const base = withoutEndingSlash(target.baseUrl).replace(/\/(v1|api)$/, '');
  const headers: Record<string, string> = { 'content-type': 'application/json', ...target.headers };
  if (target.apiKey) headers.authorization = `Bearer ${target.apiKey}`;
  await exchange.send(`${base}/api/chat`, 'POST', headers, body);
}
