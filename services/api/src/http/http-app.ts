import type { INestApplication } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Bus } from '@nightshift/bus';
import { NightshiftError } from '@nightshift/contracts';
import { Metrics } from '@nightshift/metrics';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Authenticate } from '../auth/authenticate';
import { ApiConfig } from '../config';
import { endpoints } from '../docs/endpoints';
import { TraceRequests } from './trace-requests';

/** Nest's own parsers refuse an empty body that has a content type, and read forms, which this API does not speak. */
class ApiAdapter extends FastifyAdapter {
  override registerParserMiddleware(): void {
    readBodies(this.getInstance() as unknown as FastifyInstance);
  }
}

/** Fastify as this API needs it. */
export function httpAdapter(config: ApiConfig): FastifyAdapter {
  return new ApiAdapter({
    bodyLimit: config.settings.API_MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 300 },
    // What comes over an open connection while this process ends is answered like any other request.
    return503OnClosing: false,
  });
}

/** Call between making the application and starting it: keys and figures of every request. */
export function prepareHttp(app: INestApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as FastifyInstance;
  app.useGlobalInterceptors(new TraceRequests());
  checkKeys(fastify, app.get(Authenticate), app.get(ApiConfig).settings.API_RATE_PER_MINUTE);
  count(fastify, app.get(Metrics));
  swallowLargeBodies(fastify, app.get(ApiConfig).settings.API_MAX_BODY_BYTES);
  sendClientsElsewhere(fastify, app.get(Bus).drain.begun);
}

/** Each client gets its answer and opens its next connection to somebody else, instead of finding this one closed. */
function sendClientsElsewhere(fastify: FastifyInstance, draining: AbortSignal): void {
  fastify.addHook('onSend', async (_request, reply: FastifyReply) => {
    if (draining.aborted) reply.header('connection', 'close');
  });
}

/** A client that still writes does not read: closing at once would show it a broken connection instead of the 413. */
const mostSwallowedBytes = 64 * 1024 * 1024;

function swallowLargeBodies(fastify: FastifyInstance, limitBytes: number): void {
  fastify.addHook('preParsing', async (request: FastifyRequest, _reply, payload: AsyncIterable<Buffer>) => {
    if (Number(request.headers['content-length'] ?? 0) <= limitBytes) return payload as never;
    let swallowed = 0;
    for await (const chunk of payload) if ((swallowed += chunk.length) > mostSwallowedBytes) break;
    throw new NightshiftError('PAYLOAD_TOO_LARGE', `a body may have at most ${limitBytes} bytes`, { details: { limitBytes } });
  });
}

// Clients that always send a content type send it with an empty body too.
function readBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body as string));
    } catch (error) {
      const faults = [`body: expected JSON, ${(error as Error).message}`];
      done(new NightshiftError('INVALID_ARGUMENT', 'the request cannot be read', { faults, cause: error }));
    }
  });
}

function checkKeys(fastify: FastifyInstance, authenticate: Authenticate, perMinute: number): void {
  const byRoute = new Map(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]));
  fastify.addHook('onRequest', async (request: FastifyRequest) => {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const endpoint = byRoute.get(`${method} ${request.routeOptions.url}`);
    // No row: an unknown path, which answers 404 to everybody. A test proves that every route has its row.
    if (!endpoint || endpoint.role === 'public') return;
    request.caller = await authenticate.caller(request.headers, endpoint, perMinute, Date.now());
  });
}

function count(fastify: FastifyInstance, metrics: Metrics): void {
  const requests = metrics.counter('http_requests');
  const seconds = metrics.histogram('http_request_duration_seconds');
  fastify.addHook('onResponse', async (request: FastifyRequest, reply: FastifyReply) => {
    const route = request.routeOptions.url ?? 'unknown';
    requests.inc({ route, status: statusClass(reply.statusCode) });
    if (!route.endsWith('/events')) seconds.observe({ route }, reply.elapsedTime / 1000);
  });
}

function statusClass(status: number): '2xx' | '3xx' | '4xx' | '5xx' {
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
}
