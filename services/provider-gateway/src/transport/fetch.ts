import type { Exchange } from './exchange';
import { TransportFault } from './fault';

/** What our calls add to the `fetchOptions` of an SDK request. */
export interface ExchangeInit extends RequestInit {
  exchange?: Exchange;
}

/** The `fetch` given to the official SDKs: every request runs inside the exchange of its attempt. */
export const exchangeFetch = (input: string | URL | Request, init?: ExchangeInit): Promise<Response> => {
  const exchange = init?.exchange;
  if (!exchange) return Promise.reject(new TransportFault('unreadable', 'request without an exchange'));
  const headers: Record<string, string> = {};
  // The SDKs hand over a Headers object; copying it first would cost as much as reading it.
  for (const [name, value] of init.headers instanceof Headers ? init.headers : new Headers(init.headers)) {
    // What the SDK tells about itself and this machine is nobody's business, and costs time on both ends.
    if (!name.startsWith('x-stainless-')) headers[name] = value;
  }
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
  if (init.body !== undefined && init.body !== null && typeof init.body !== 'string') {
    return Promise.reject(new TransportFault('unreadable', 'only text bodies are sent'));
  }
  return exchange.send(url, init.method ?? 'GET', headers, init.body ?? undefined);
};
