import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AttemptClocks, type ClockLimits } from './clocks';
import { TransportFault, faultOf } from './fault';
import type { HttpClient } from './http-client';
import type { StopSignal } from './stop-signal';
import { wireResponse } from './wire-response';

/** An error body above this is cut: it is evidence, not an answer. */
const maxErrorBytes = 256 * 1024;

/** A body below this is sent together with its head; copying a larger one would cost more than a second write. */
const inOnePiece = 64 * 1024;

/** What a reader of a body says to each piece. */
export type Taken = 'more' | 'enough';

const urls = new Map<string, URL>();

/** Targets are few and come again with every call. */
function parsed(target: string): URL {
  let url = urls.get(target);
  if (!url) {
    if (urls.size > 1_000) urls.clear();
    urls.set(target, (url = new URL(target)));
  }
  return url;
}

/** Head lines as a list: node:http takes it as it is instead of storing and checking every name on its own. */
function rawHeaders(url: URL, headers: Readonly<Record<string, string>>, length: number): string[] {
  const raw = ['host', url.host];
  for (const name in headers) raw.push(name, headers[name] as string);
  if (length > 0) raw.push('content-length', String(length));
  return raw;
}

/**
 * One HTTP exchange with a provider: its clocks, its abort, and what was seen of it. It is handed to an SDK as
 * `fetchOptions.exchange`; the SDK prepares the request, this class performs it and keeps the raw response, because the
 * SDKs' own errors drop envelopes that are not shaped like their vendor's.
 */
export class Exchange {
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** Whole body of an answer outside 2xx. */
  errorText = '';
  /** Why the body of an error status is incomplete. */
  bodyCut = '';
  fault: TransportFault | undefined;
  startedAt = Date.now();
  lastByteAt = 0;
  closedAt = 0;
  requestBytes = 0;
  /** The whole request has left this process. */
  sent = false;
  private readonly clocks: AttemptClocks;
  private request: ClientRequest | undefined;
  private response: IncomingMessage | undefined;
  private readonly onAbort = (): void => void this.fail(new TransportFault('aborted', 'stopped by the caller'));

  constructor(
    private readonly client: HttpClient,
    limits: ClockLimits,
    private readonly signal: StopSignal,
  ) {
    this.clocks = new AttemptClocks(limits, (fault) => this.fail(fault));
    if (signal.aborted) this.onAbort();
    else signal.addEventListener('abort', this.onAbort, { once: true });
  }

  /** Performs the request; resolves when headers are there (for an error status: when the body is read, too). */
  send(
    target: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer | undefined,
  ): Promise<Response> {
    const url = parsed(target);
    return new Promise((resolve, reject) => {
      if (this.fault) return reject(this.fault);
      this.requestBytes = body === undefined ? 0 : Buffer.byteLength(body);
      const request = this.client.request(url, { method, headers: rawHeaders(url, headers, this.requestBytes) });
      this.request = request;
      request.on('socket', (socket) => {
        if (!socket.connecting) return this.clocks.enter('headers');
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => this.clocks.enter('headers'));
      });
      request.on('error', (error) => {
        this.fail(faultOf(error));
        reject(this.fault ?? error);
      });
      request.on('response', (response) => {
        this.response = response;
        this.status = response.statusCode ?? 0;
        this.headers = response.headers;
        this.lastByteAt = Date.now();
        if (this.status >= 200 && this.status < 300) {
          this.clocks.enter('firstContent');
          return resolve(wireResponse(this.status, this.headers, target, ''));
        }
        this.readErrorBody(response).then(() => resolve(wireResponse(this.status, this.headers, target, this.errorText)), reject);
      });
      request.on('finish', () => (this.sent = true));
      // As a string, head and body leave in one piece. Latin-1 keeps every byte of a body as it is.
      if (Buffer.isBuffer(body) && body.length < inOnePiece) request.end(body.toString('latin1'), 'latin1');
      else request.end(body);
    });
  }

  /**
   * Hands over the pieces of a 2xx body as they come, until it ends or `onPiece` has enough. While a promise that it gave
   * is open, the socket is not read. Rejects with the fault that cut the body, if one did.
   */
  read(onPiece: (bytes: Buffer) => Taken | Promise<Taken>): Promise<void> {
    return new Promise((resolve, reject) => {
      const response = this.bodyToRead();
      let over = false;
      let busy = false;
      let settled = false;
      const settle = (enough: boolean): void => {
        if (settled) return;
        settled = true;
        try {
          if (!enough) this.checkWhole(response);
          resolve();
        } catch (error) {
          reject(error as Error);
        }
      };
      const taken = (result: Taken): void => {
        if (result === 'enough' || over) settle(result === 'enough');
      };
      response.on('data', (bytes: Buffer) => {
        if (settled) return;
        this.lastByteAt = Date.now();
        this.clocks.data();
        try {
          const result = onPiece(bytes);
          if (typeof result === 'string') return taken(result);
          busy = true;
          response.pause();
          result.then((later) => {
            busy = false;
            taken(later);
            response.resume();
          }, reject);
        } catch (error) {
          reject(error as Error);
        }
      });
      this.onOver(response, () => {
        over = true;
        if (!busy) settle(false);
      });
    });
  }

  /** The whole 2xx body. */
  async body(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    await this.read((bytes) => {
      pieces.push(bytes);
      return 'more';
    });
    return Buffer.concat(pieces);
  }

  /** Content was seen: from here on the idle clock counts. */
  contentSeen(): void {
    if (!this.clocks.showsContent) this.clocks.enter('idle');
  }

  /** Ends the exchange; the first fault stays. Closing the socket is what stops the provider from generating on. */
  fail(fault: TransportFault): TransportFault {
    this.fault ??= fault;
    this.clocks.stop();
    this.response?.destroy();
    this.request?.destroy(this.fault);
    this.closed();
    return this.fault;
  }

  /** Always to be called at the end: stops the clocks and, when the body was not read to its end, closes the socket. */
  finish(): void {
    this.clocks.stop();
    if (this.response && !this.response.complete) this.response.destroy();
    this.closed();
  }

  private bodyToRead(): IncomingMessage {
    if (!this.response) throw this.fault ?? new TransportFault('unreadable', 'no response to read');
    return this.response;
  }

  /** `end` of a whole body, or `close` of a cut one, whichever comes first. */
  private onOver(response: IncomingMessage, over: () => void): void {
    response.on('error', (error) => this.fail(faultOf(error)));
    response.once('end', over);
    response.once('close', over);
    if (response.destroyed) over();
  }

  private checkWhole(response: IncomingMessage): void {
    if (this.fault) throw this.fault;
    if (!response.complete) throw this.fail(new TransportFault('reset', 'the connection ended inside the body'));
  }

  private closed(): void {
    this.closedAt ||= Date.now();
    this.signal.removeEventListener('abort', this.onAbort);
  }

  private async readErrorBody(response: IncomingMessage): Promise<void> {
    response.setEncoding('utf8');
    try {
      for await (const piece of response as AsyncIterable<string>) {
        this.errorText += piece;
        if (this.errorText.length > maxErrorBytes) break;
      }
    } catch (error) {
      // A status whose body was cut is still evidence; only a clock or an abort outranks it.
      if (this.fault) throw this.fault;
      this.bodyCut = faultOf(error).message;
    }
  }
}
