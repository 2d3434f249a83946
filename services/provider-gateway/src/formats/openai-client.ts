import OpenAI from 'openai';
import { exchangeFetch } from '../transport/fetch';
import type { Target } from './format';
import { PreparedRequests } from './prepared-requests';
import { withoutEndingSlash } from './sdk-request';

const clients = new WeakMap<Target, OpenAI>();

/** The SDK on our transport: clocks and abort are the exchange's, so its own timer and controller are left out. */
class OpenAiOnExchange extends OpenAI {
  private readonly prepared = new PreparedRequests();

  override buildRequest(...[options, extra]: Parameters<OpenAI['buildRequest']>): ReturnType<OpenAI['buildRequest']> {
    return this.prepared.of(options, () => super.buildRequest(options, extra));
  }

  override fetchWithTimeout(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    return exchangeFetch(url, init);
  }
}

/**
 * One SDK client per target. Every credential is given explicitly, so nothing is read from the environment; `null`
 * removes a header. Retries are off: the chain counts attempts, a second loop below it would multiply them.
 */
export function openAiClient(target: Target): OpenAI {
  const known = clients.get(target);
  if (known) return known;
  const auth = target.quirks.auth ?? 'bearer';
  const client = new OpenAiOnExchange({
    apiKey: target.apiKey || 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: withoutEndingSlash(target.baseUrl),
    defaultHeaders: {
      ...target.headers,
      ...(auth === 'bearer' && target.apiKey !== '' ? {} : { authorization: null }),
      ...(auth === 'api-key' ? { 'api-key': target.apiKey } : auth === 'x-api-key' ? { 'x-api-key': target.apiKey } : {}),
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
