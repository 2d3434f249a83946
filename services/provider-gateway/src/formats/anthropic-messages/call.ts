import { addressOf } from '../address';
import Anthropic from '@anthropic-ai/sdk';
import { exchangeFetch } from '../../transport/fetch';
import type { Exchange } from '../../transport/exchange';
import type { Address, Target } from '../format';
import { PreparedRequests } from '../prepared-requests';
import { sdkRequest, withoutEndingSlash } from '../sdk-request';

const clients = new WeakMap<Target, Anthropic>();

/** The dialect that request.ts and stream.ts speak; the SDK's own default moves with its releases. */
const version = '2023-06-01';

/** The SDK on our transport: clocks and abort are the exchange's, so its own timer and controller are left out. */
class AnthropicOnExchange extends Anthropic {
  private readonly prepared = new PreparedRequests();

  override buildRequest(...[options, extra]: Parameters<Anthropic['buildRequest']>): ReturnType<Anthropic['buildRequest']> {
    return this.prepared.of(options, () => super.buildRequest(options, extra));
  }

  override fetchWithTimeout(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    return exchangeFetch(url, init);
  }
}

/** `null` removes a header; every credential is given explicitly so that nothing is read from the environment or a profile. */
function clientFor(target: Target): Anthropic {
  const known = clients.get(target);
  if (known) return known;
  const auth = target.quirks.auth ?? 'x-api-key';
  const key = target.apiKey === '' || auth === 'none' ? undefined : target.apiKey;
  const client = new AnthropicOnExchange({
    apiKey: target.apiKey || 'none',
    baseURL: withoutEndingSlash(target.baseUrl).replace(/\/v1$/, ''),
    defaultHeaders: {
      'anthropic-version': version,
      'x-api-key': auth === 'bearer' ? null : (key ?? null),
      authorization: auth === 'bearer' && key ? `Bearer ${key}` : null,
      ...target.headers,
    },
    defaultQuery: { ...target.query },
    fetch: exchangeFetch,
    maxRetries: 0,
    logLevel: 'off',
    timeout: 2_147_483_647,
  });
  clients.set(target, client);
  return client;
}

/** POST /v1/messages through the official SDK. */
export function call(target: Target, body: string, exchange: Exchange): Promise<void> {
  return sdkRequest(exchange, (options) =>
    clientFor(target)
      .post('/v1/messages', { ...options, body })
      .asResponse(),
  );
}

/** The same route for requests that pass through. */
export function address(target: Target): Address {
  const root = {
    ...target,
    baseUrl: withoutEndingSlash(target.baseUrl).replace(/\/v1$/, ''),
    quirks: { auth: 'x-api-key' as const, ...target.quirks },
  };
  return addressOf(root, '/v1/messages', { 'anthropic-version': version });
}
