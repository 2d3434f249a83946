import { NightshiftError } from '@nightshift/contracts';

/** Reads JSON from one configured server, and distrusts it. */
export interface JsonClient {
  /** Base address without `/v1` and without a slash at its end. */
  readonly root: string;
  get(path: string, signal?: AbortSignal): Promise<unknown>;
  /** The same; undefined where the server has no such path (404, 405, 501). */
  getOptional(path: string, signal?: AbortSignal): Promise<unknown>;
  post(path: string, body: unknown, options?: { signal?: AbortSignal; timeoutMs?: number }): Promise<unknown>;
}

export interface JsonClientOptions {
  timeoutMs: number;
  maxBytes: number;
}

const absent = [404, 405, 501];

/** Unreachable or slow: UNAVAILABLE. Reachable, but not what was asked for: FAILED_PRECONDITION, with the status in the details. */
export function jsonClient(endpoint: string, options: JsonClientOptions): JsonClient {
  const root = endpoint.replace(/\/+$/, '').replace(/\/v1$/, '');
  const call = (path: string, init: RequestInit, signal?: AbortSignal, timeoutMs = options.timeoutMs): Promise<unknown> =>
    request(`${root}${path}`, init, timeoutMs, options.maxBytes, signal);
  const get = (path: string, signal?: AbortSignal): Promise<unknown> => call(path, { method: 'GET' }, signal);
  return {
    root,
    get,
    async getOptional(path, signal) {
      try {
        return await get(path, signal);
      } catch (thrown) {
        const fault = NightshiftError.from(thrown);
        if (absent.includes(Number(fault.details['status']))) return undefined;
        throw fault;
      }
    },
    post: (path, body, { signal, timeoutMs } = {}) =>
      call(
        path,
        { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
        signal,
        timeoutMs,
      ),
  };
}

async function request(
  url: string,
  init: RequestInit,
  timeoutMs: number,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<unknown> {
  const where = new URL(url).pathname;
  const clock = AbortSignal.timeout(timeoutMs);
  let response: Response;
  let text: string;
  try {
    // Redirects are not followed: only configured addresses are ever contacted.
    response = await fetch(url, { ...init, redirect: 'manual', signal: signal ? AbortSignal.any([clock, signal]) : clock });
    text = await readBounded(response, maxBytes, where);
  } catch (thrown) {
    if (thrown instanceof NightshiftError) throw thrown;
    throw new NightshiftError(
      'UNAVAILABLE',
      clock.aborted ? `${where}: no answer within ${timeoutMs} ms` : `${where}: ${causeOf(thrown)}`,
      {
        cause: thrown,
      },
    );
  }
  if (response.status >= 300 && response.status < 400)
    throw refused(`${where}: redirects elsewhere, which is not followed`, response.status);
  if (response.status === 401 || response.status === 403)
    throw refused(`${where}: wants a key (${response.status})`, response.status);
  if (response.status >= 500)
    throw new NightshiftError('UNAVAILABLE', `${where}: status ${response.status}`, { details: { status: response.status } });
  if (response.status !== 200) throw refused(`${where}: status ${response.status}`, response.status);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw refused(`${where}: the answer is no JSON`, response.status, cause);
  }
}

async function readBounded(response: Response, maxBytes: number, where: string): Promise<string> {
  if (!response.body) return '';
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the transfer.
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > maxBytes) throw refused(`${where}: the answer is larger than ${maxBytes} bytes`, response.status);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function refused(message: string, status: number, cause?: unknown): NightshiftError {
  return new NightshiftError('FAILED_PRECONDITION', message, { details: { status }, cause });
}

/** fetch says only "fetch failed"; why is in its cause. */
function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error) && !(typeof thrown === 'object' && thrown !== null && 'message' in thrown))
    return String(thrown);
  const cause = (thrown as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (thrown as { message: string }).message;
}
