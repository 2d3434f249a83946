import type { ExchangeInit } from '../transport/fetch';

/** What an SDK makes of a call. */
interface Built {
  req: RequestInit & { headers: Headers };
  url: string;
  timeout: number;
}
interface Asked {
  path: string;
  method: string;
  body?: unknown;
  fetchOptions?: unknown;
}

/**
 * The SDKs put URL and headers together anew for every call, which takes them longer than our whole exchange. For one
 * target they are always the same: the first call to a route is prepared by the SDK, later ones get a copy with their body.
 */
export class PreparedRequests {
  private readonly known = new Map<string, { url: string; timeout: number; headers: Readonly<Record<string, string>> }>();

  async of(asked: Asked, build: () => Promise<Built>): Promise<Built> {
    let prepared = this.known.get(asked.path);
    if (!prepared) {
      const { req, url, timeout } = await build();
      // What an SDK tells about itself and this machine is nobody's business, and costs time on both ends.
      const headers = Object.fromEntries([...req.headers].filter(([name]) => !name.startsWith('x-stainless-')));
      this.known.set(asked.path, (prepared = { url, timeout, headers }));
    }
    const { url, timeout, headers } = prepared;
    const req: ExchangeInit = { method: asked.method, body: asked.body as string, ...(asked.fetchOptions as ExchangeInit) };
    // The SDK only hands the headers on to our fetch, which takes a plain object faster than a Headers.
    return { req: { ...req, headers: headers as unknown as Headers }, url, timeout };
  }
}
