import { errorCodes, NightshiftError, type ErrorCode } from '@nightshift/contracts';
import type { Address } from './address';
import { EventReader, type ServerEvent } from './sse';

export interface CallOptions {
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** The HTTP API of Nightshift as the command line uses it. */
export class Api {
  constructor(private readonly address: Address) {}

  get url(): string {
    return this.address.url;
  }

  get<T>(path: string, options: CallOptions = {}): Promise<T> {
    return this.call<T>('GET', path, options);
  }

  post<T>(path: string, body: object = {}, headers: Readonly<Record<string, string>> = {}): Promise<T> {
    return this.call<T>('POST', path, { body, headers });
  }

  put<T>(path: string, body: object): Promise<T> {
    return this.call<T>('PUT', path, { body });
  }

  async delete(path: string): Promise<void> {
    await this.fetch('DELETE', path, {});
  }

  /** Raw bytes with the hash that the server tells. */
  async bytes(path: string): Promise<{ bytes: Buffer; sha256: string }> {
    const response = await this.fetch('GET', path, {});
    return { bytes: Buffer.from(await response.arrayBuffer()), sha256: response.headers.get('x-sha256') ?? '' };
  }

  /**
   * Calls back with every event of a stream until it ends or `signal` fires.
   * @throws NightshiftError UNAVAILABLE when the connection breaks: come back with the id of the last event.
   */
  async events(path: string, options: CallOptions, onEvent: (event: ServerEvent) => void): Promise<void> {
    const response = await this.fetch('GET', path, options);
    const reader = new EventReader(onEvent);
    const decoder = new TextDecoder();
    if (!response.body) return;
    try {
      for await (const piece of response.body) reader.feed(decoder.decode(piece as Uint8Array, { stream: true }));
    } catch (thrown) {
      if (options.signal?.aborted) return;
      throw new NightshiftError('UNAVAILABLE', 'the event stream broke off', { cause: thrown });
    }
  }

  private async call<T>(method: string, path: string, options: CallOptions): Promise<T> {
    const response = await this.fetch(method, path, options);
    return (await response.json()) as T;
  }

  private async fetch(method: string, path: string, options: CallOptions): Promise<Response> {
    const url = new URL(this.address.url + path);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = {
      authorization: `Bearer ${this.address.key()}`,
      ...(options.body ? { 'content-type': 'application/json' } : {}),
      ...options.headers,
    };
    let response: Response;
    try {
      const body = options.body ? JSON.stringify(options.body) : undefined;
      response = await fetch(url, { method, headers, body, signal: options.signal });
    } catch (thrown) {
      if (options.signal?.aborted) throw new NightshiftError('CANCELLED', 'given up', { cause: thrown });
      throw new NightshiftError('UNAVAILABLE', `nothing answers at ${this.address.url}; is Nightshift running? (\`npm start\`)`, {
        cause: thrown,
      });
    }
    if (!response.ok) throw await faultOf(response);
    return response;
  }
}

/** The error that a problem+json answer describes; an answer of somebody else (a proxy) keeps its status and text. */
async function faultOf(response: Response): Promise<NightshiftError> {
  const text = await response.text();
  const problem = parse(text);
  if (problem && problem.code in errorCodes) {
    return new NightshiftError(problem.code, problem.detail, {
      faults: problem.faults,
      retryAfterMs: problem.retryAfterMs,
      details: problem.details,
    });
  }
  const code: ErrorCode = response.status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT';
  return new NightshiftError(code, `HTTP ${response.status} from ${response.url}: ${text.slice(0, 200)}`);
}

interface ReadProblem {
  code: ErrorCode;
  detail: string;
  faults?: string[];
  retryAfterMs?: number;
  details?: Record<string, unknown>;
}

function parse(text: string): ReadProblem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'code' in value && 'detail' in value
      ? (value as ReadProblem)
      : undefined;
  } catch {
    // Not JSON: a proxy's page.
    return undefined;
  }
}
