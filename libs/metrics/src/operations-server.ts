import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NightshiftError } from '@nightshift/contracts';
import type { Metrics } from './create-metrics';

/** One line: what is wrong, and what was expected. */
export type Fault = string;

export interface OperationsOptions {
  /** 0 = any free port. */
  port: number;
  host: string;
  metrics: Metrics;
  /** Why this process cannot serve its role now; empty = ready. */
  ready: () => Promise<Fault[]>;
}
export interface OperationsServer {
  port: number;
  url: string;
  close(): Promise<void>;
}

/** A check that hangs (a database that does not answer) is a fault itself. */
const readyTimeoutMs = 3_000;

async function readiness(ready: () => Promise<Fault[]>): Promise<Fault[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Fault[]>((resolve) => {
    timer = setTimeout(() => resolve([`readiness: no answer within ${readyTimeoutMs} ms`]), readyTimeoutMs);
  });
  try {
    return await Promise.race([ready(), late]);
  } catch (error) {
    return [`readiness: ${NightshiftError.from(error).message}`];
  } finally {
    clearTimeout(timer);
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/**
 * Serves /metrics, /health/live (the event loop turns; never the database) and /health/ready (200, or 503 with the faults)
 * on the service's own port. Throws UNAVAILABLE naming the port when it is taken.
 */
export async function startOperationsServer(options: OperationsOptions): Promise<OperationsServer> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (request.url?.split('?')[0]) {
      case '/metrics': {
        const text = await options.metrics.text();
        response.writeHead(200, { 'content-type': options.metrics.registry.contentType }).end(text);
        return;
      }
      case '/health/live':
        return json(response, 200, { live: true });
      case '/health/ready': {
        const faults = await readiness(options.ready);
        return json(response, faults.length === 0 ? 200 : 503, { ready: faults.length === 0, faults });
      }
      default:
        return json(response, 404, { error: 'expected /metrics, /health/live or /health/ready' });
    }
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => json(response, 500, { error: NightshiftError.from(error).message }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new NightshiftError('UNAVAILABLE', `METRICS_PORT ${options.port} on ${options.host}: ${error.code ?? error.message}`, {
          cause: error,
        }),
      ),
    );
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${options.host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
