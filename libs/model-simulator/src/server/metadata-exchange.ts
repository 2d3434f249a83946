import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../json';
import type { MetadataReply } from '../metadata/endpoint';
import { metadataOf } from '../metadata/metadata';
import { hostileBody } from './hostile';
import { banner } from './perform';
import { presence } from './presence';
import { readBody } from './read-body';
import type { RequestLog } from './request-log';
import type { Resolved } from './resolve';

const CHUNK = 1024 * 1024;

/** A request for metadata, answered as truthfully as the server's mode allows. */
export async function metadataExchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  { server, path }: Resolved,
  query: URLSearchParams,
  log: RequestLog,
): Promise<void> {
  const started = Date.now();
  const number = log.arrive();
  const raw = await readBody(incoming);
  if (raw === undefined) return;
  const reply = answer(jsonOf(raw));
  const status = await send(response, reply);
  log.write({
    kind: 'metadata',
    number,
    at: new Date(started).toISOString(),
    server: server.name,
    method: incoming.method ?? 'GET',
    path,
    query: query.toString(),
    mode: server.mode.mode,
    status,
    ms: Date.now() - started,
  });

  function answer(body: JsonObject): MetadataReply {
    if (server.key !== undefined && incoming.headers.authorization !== `Bearer ${server.key}`)
      return { status: 401, body: { error: 'unauthorized' } };
    const request = { method: incoming.method ?? 'GET', path, query, body, nowMs: started };
    const known = metadataOf(server.kind)(server, request);
    return (
      known ?? {
        status: 404,
        body: { error: { message: `nightshift-model-simulator: no such path ${path}`, type: 'not_found_error' } },
      }
    );
  }

  async function send(to: ServerResponse, { status: code, body }: MetadataReply): Promise<number> {
    const { mode } = server;
    const head = (statusCode: number, headers: Record<string, string> = {}): void => {
      to.writeHead(statusCode, { ...banner, 'content-type': 'application/json', ...headers });
    };
    switch (mode.mode) {
      case 'status':
        head(mode.status);
        to.end(JSON.stringify({ error: `status ${mode.status} was ordered` }));
        return mode.status;
      case 'hostile':
        head(200, mode.body === 'html' ? { 'content-type': 'text/html' } : {});
        to.end(hostileBody(mode.body, body));
        return 200;
      case 'huge':
        head(200);
        await sendHuge(to, mode.bytes);
        return 200;
      case 'redirect':
        head(302, { location: mode.to });
        to.end();
        return 302;
      case 'up':
      case 'down':
      case 'hang':
      case 'slow': {
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        head(code, {
          ...(typeof body === 'string' ? { 'content-type': 'text/plain' } : {}),
          'content-length': String(Buffer.byteLength(text)),
        });
        to.end(incoming.method === 'HEAD' ? undefined : text);
        return code;
      }
    }
  }
}

/** Valid JSON of that size, never all of it in memory. */
async function sendHuge(response: ServerResponse, bytes: number): Promise<void> {
  const client = presence(response);
  const chunk = Buffer.alloc(CHUNK, 0x20);
  response.write('{"models":[');
  for (let sent = 0; sent < bytes; sent += CHUNK) {
    if (client.gone()) return;
    if (!response.write(chunk)) await client.drained();
  }
  response.end('],"data":[]}');
}

function jsonOf(raw: Buffer): JsonObject {
  try {
    const value: unknown = raw.length === 0 ? {} : JSON.parse(raw.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
