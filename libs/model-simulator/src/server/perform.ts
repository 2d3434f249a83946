import type { ServerResponse } from 'node:http';
import type { ModelSpec } from '../config/model-spec';
import type { Reply } from './decide';
import { play, type Playback } from './playback';
import { presence } from './presence';

/** The simulator says what it is in every answer. */
export const banner = { 'x-simulator': 'nightshift-model-simulator' };

export interface Performed extends Playback {
  readonly status: number;
  readonly firstByteMs?: number;
}

/** Puts a reply on the wire and tells what became of it. */
export async function perform(
  response: ServerResponse,
  reply: Reply,
  options: { requestId: string; streamType: string; latency: ModelSpec['latency'] },
): Promise<Performed> {
  const started = performance.now();
  let firstByteMs: number | undefined;
  const head = (status: number, headers: Readonly<Record<string, string>>): void => {
    firstByteMs = Math.round(performance.now() - started);
    response.writeHead(status, { ...banner, 'request-id': options.requestId, 'x-request-id': options.requestId, ...headers });
  };
  const openStream = (flush: boolean): void => {
    head(200, { 'content-type': options.streamType, 'cache-control': 'no-cache' });
    // Headers leave by themselves before a wait; an answer that is there at once goes out in one piece.
    if (flush) response.flushHeaders();
  };
  const ended = (playback: Playback, status = response.headersSent ? response.statusCode : 0): Performed => ({
    ...playback,
    status,
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
  });
  switch (reply.kind) {
    case 'error': {
      const { status, headers, body } = reply.error;
      const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
      head(status, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers });
      response.end(text);
      return ended({ deltas: 0, ended: 'complete' }, status);
    }
    case 'reset':
      response.socket?.resetAndDestroy();
      return ended({ deltas: 0, ended: 'cut_by_fault' }, 0);
    case 'headers_only':
    case 'never':
      if (reply.kind === 'headers_only') openStream(true);
      await presence(response).wait(Number.MAX_SAFE_INTEGER);
      return ended({ deltas: 0, ended: 'client_closed' });
    case 'stream':
      openStream(reply.firstTokenMs > 0 || reply.interruption !== undefined);
      return ended(
        await play(response, reply.frames, options.latency, { ...reply, tokens: reply.answer?.usage.output ?? 0 }),
        200,
      );
    case 'whole': {
      if (!(await presence(response).wait(reply.waitMs))) return ended({ deltas: 0, ended: 'client_closed' }, 0);
      const length: Record<string, string> =
        reply.broken === undefined ? { 'content-length': String(Buffer.byteLength(reply.json)) } : {};
      head(200, { 'content-type': 'application/json', ...length });
      if (reply.broken === undefined) response.end(reply.json);
      else if (reply.broken === 'early_end') response.end(reply.json.slice(0, reply.json.length / 2));
      else response.write(reply.json.slice(0, reply.json.length / 2), () => response.socket?.resetAndDestroy());
      return ended({ deltas: 0, ended: reply.broken === undefined ? 'complete' : 'cut_by_fault' }, 200);
    }
  }
}
