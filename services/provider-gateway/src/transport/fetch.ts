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
  const url = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
  if (init.body !== undefined && init.body !== null && typeof init.body !== 'string') {
    return Promise.reject(new TransportFault('unreadable', 'only text bodies are sent'));
  }
  // Prepared requests carry a plain object.
  const headers = init.headers as unknown as Readonly<Record<string, string>>;
  return exchange.send(url, (init.method ?? 'GET').toUpperCase(), headers, init.body ?? undefined);
};
