import type { Exchange } from '../transport/exchange';
import { faultOf } from '../transport/fault';

interface SdkOptions {
  headers: Record<string, string>;
  fetchOptions: object;
}

/**
 * Lets an SDK prepare and send one request inside the exchange. What the SDK throws is dropped: the exchange holds the
 * evidence (status, headers, whole body), while the SDK's errors keep only bodies shaped like their vendor's and print
 * parts of the request.
 */
export async function sdkRequest(exchange: Exchange, send: (options: SdkOptions) => Promise<Response>): Promise<void> {
  try {
    await send({ headers: { 'content-type': 'application/json' }, fetchOptions: { exchange } });
  } catch (error) {
    if (exchange.fault) throw exchange.fault;
    if (exchange.status === 0) throw exchange.fail(faultOf(error));
  }
}

export function withoutEndingSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
