import type { IncomingHttpHeaders } from 'node:http';

/** The little of the fetch `Headers` that the SDKs read. */
class WireHeaders {
  constructor(private readonly raw: IncomingHttpHeaders) {}
  get(name: string): string | null {
    const value = this.raw[name.toLowerCase()];
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
  }
  has(name: string): boolean {
    return this.get(name) !== null;
  }
  *entries(): IterableIterator<[string, string]> {
    for (const name of Object.keys(this.raw)) yield [name, this.get(name) ?? ''];
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

/**
 * What our fetch hands to the SDKs. They are asked for the raw response (`asResponse`), so they look at status and
 * headers only; building a real `Response` over a web stream costs more than the whole rest of the call.
 */
export function wireResponse(status: number, headers: IncomingHttpHeaders, url: string, text: string): Response {
  const response = {
    status,
    ok: status >= 200 && status < 300,
    url,
    statusText: '',
    redirected: false,
    type: 'basic' as const,
    headers: new WireHeaders(headers),
    body: null,
    bodyUsed: false,
    text: () => Promise.resolve(text),
    json: () => Promise.resolve(JSON.parse(text) as unknown),
  };
  // The SDKs read the members above and no others (checked against openai 6.49.0 and @anthropic-ai/sdk 1.14.0).
  return response as unknown as Response;
}
