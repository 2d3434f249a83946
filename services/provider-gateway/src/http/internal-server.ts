import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { toJson, toJsonString } from '@bufbuild/protobuf';
import { errorCodes, llm, NightshiftError } from '@nightshift/contracts';
import { performCall } from '../core/complete';
import type { GatewayDeps } from '../core/gateway-deps';
import type { GatewayEvent } from '../core/gateway-event';
import { formats } from '../formats';
import type { CallKey } from '../ledger/call-key';
import { StopSource } from '../transport/stop-signal';
import { internalRequest, type InternalRequest } from './internal-request';

const largestBody = 32 * 1024 * 1024;
const inOnePiece = 64 * 1024;

/** Shows one event of a call to its caller. */
type Pass = (event: GatewayEvent, asked: InternalRequest, response: http.ServerResponse) => void;

export interface InternalServerHooks {
  attempt(key: CallKey, attempt: llm.Attempt): void;
  onFault(error: unknown): void;
}

/**
 * The core behind HTTP on the loopback interface, for front doors in front of it: POST /internal/complete. A plain
 * node:http server, since a framework's router and body parser cost more than the whole pass-through.
 */
export class InternalServer {
  private readonly server: http.Server;

  constructor(
    private readonly deps: GatewayDeps,
    private readonly hooks: InternalServerHooks,
  ) {
    this.server = http.createServer((request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        this.hooks.onFault(error);
        response.destroy();
      });
    });
    this.server.keepAliveTimeout = 65_000;
  }

  /** @throws NightshiftError UNAVAILABLE that names the port */
  listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', (cause: NodeJS.ErrnoException) => {
        reject(
          new NightshiftError(
            'UNAVAILABLE',
            `GATEWAY_PORT: cannot listen on 127.0.0.1:${port} (${cause.code ?? cause.message})`,
            { cause },
          ),
        );
      });
      this.server.listen(port, '127.0.0.1', () => resolve((this.server.address() as AddressInfo).port));
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeIdleConnections();
    const cut = setTimeout(() => this.server.closeAllConnections(), 5_000);
    await closed;
    clearTimeout(cut);
  }

  private async handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    try {
      if (request.method !== 'POST' || request.url !== '/internal/complete')
        throw new NightshiftError('NOT_FOUND', 'POST /internal/complete is all there is');
      const asked = internalRequest(request.headers, await bodyOf(request), this.deps.now());
      await this.answer(asked, response);
    } catch (error) {
      refuse(response, NightshiftError.from(error));
    }
  }

  private async answer(asked: InternalRequest, response: http.ServerResponse): Promise<void> {
    const gone = new StopSource();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort(new NightshiftError('CANCELLED', 'the caller went away'));
    });
    const key: CallKey = {
      team: asked.team,
      task: asked.request.taskId,
      epoch: asked.request.epoch,
      purpose: asked.request.purpose,
      hash: '',
    };
    const deps: GatewayDeps = {
      ...this.deps,
      attemptEnded: (attempt) => {
        this.hooks.attempt(key, attempt);
        return Promise.resolve();
      },
    };
    const call = {
      team: asked.team,
      signal: gone,
      deadlineMs: asked.deadlineMs,
      unstreamed: !asked.stream,
      ...(asked.native ? { native: asked.native } : {}),
    };
    const pass = !asked.native ? tell : asked.stream ? passOn : wholeAnswer();
    const terminal = await performCall(asked.request, call, deps, (event) => {
      if (gone.aborted) return;
      pass(event, asked, response);
      // A slow reader slows the provider down instead of filling our memory.
      return response.writableNeedDrain ? drained(response) : undefined;
    });
    if (!gone.aborted) pass(terminal, asked, response);
  }
}

function drained(response: http.ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** An answer in one body leaves as one, head and all, once it is known to be good. */
function wholeAnswer(): Pass {
  const pieces: Buffer[] = [];
  return (event, _asked, response) => {
    switch (event.kind) {
      case 'raw':
        pieces.push(event.bytes);
        return;
      case 'finished': {
        const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
        // As a string, head and body are one write. Latin-1 keeps every byte as it is.
        if (body.length < inOnePiece) response.end(body.toString('latin1'), 'latin1');
        else response.end(body);
        return;
      }
      case 'failed':
        return refuse(response, event.error);
      default:
    }
  };
}

/** The provider's bytes as they come; an error before the first of them still has a status. */
function passOn(event: GatewayEvent, { native }: InternalRequest, response: http.ServerResponse): void {
  switch (event.kind) {
    case 'raw':
      if (!response.headersSent) {
        const type = native?.format === 'ollama-chat' ? 'application/x-ndjson' : 'text/event-stream';
        response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
      }
      response.write(event.bytes);
      return;
    case 'finished':
      response.end();
      return;
    case 'failed':
      if (!response.headersSent || !native) return refuse(response, event.error);
      // Something was shown: the dialect's own error is the last thing, and the connection does not end in an orderly way.
      response.write(formats[native.format].errorFrame(event.error.code, event.error.text), () => response.destroy());
      return;
    default:
  }
}

/** Events as lines of JSON; the last one is terminal. */
function tell(event: GatewayEvent, _asked: InternalRequest, response: http.ServerResponse): void {
  if (event.kind === 'failed' && !response.headersSent) return refuse(response, event.error);
  // An attempt alone says nothing that a status could not still contradict.
  if (event.kind === 'attempt' && !response.headersSent) return;
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  switch (event.kind) {
    case 'finished':
      response.end(`{"kind":"finished","reply":${toJsonString(llm.CompleteReplySchema, event.reply)}}\n`);
      return;
    case 'failed':
      response.end(
        `${JSON.stringify({ kind: 'failed', error: errorBody(event.error), attempts: event.attempts.map((one) => toJson(llm.AttemptSchema, one)) })}\n`,
      );
      return;
    default:
      response.write(`${JSON.stringify(event)}\n`);
  }
}

function errorBody(error: NightshiftError): object {
  return { code: error.code, message: error.text, faults: error.faults, details: error.details };
}

function refuse(response: http.ServerResponse, error: NightshiftError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const body = JSON.stringify({ error: errorBody(error) });
  const hint = error.retryAfterMs > 0 ? { 'retry-after': String(Math.ceil(error.retryAfterMs / 1_000)) } : {};
  response.writeHead(errorCodes[error.code].http, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...hint,
  });
  response.end(body);
}

function bodyOf(request: http.IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= largestBody) pieces.push(piece);
      // What is left is read and thrown away, so that the client gets to read the answer.
      else
        reject(
          new NightshiftError('PAYLOAD_TOO_LARGE', `body: at most ${largestBody} bytes`, { details: { limit: largestBody } }),
        );
    });
    request.on('end', () => resolve(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)));
    request.on('error', (cause) => reject(new NightshiftError('CANCELLED', 'the request was cut', { cause })));
  });
}
