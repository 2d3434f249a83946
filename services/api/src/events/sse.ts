import type { ServerResponse } from 'node:http';
import type { Json } from '../http/present';

/** One frame of an event stream. JSON has no raw line feed, so one `data` line is enough. */
export function frame(event: string, data: Json, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

const heartbeatMs = 15_000;
/** How long a reader may leave recorded events unread before its connection is closed. */
const stuckMs = 60_000;

/** An event stream to one reader. */
export class SseResponse {
  private readonly heartbeat: NodeJS.Timeout;
  private readonly gone = new AbortController();

  /** @param raw a response that nobody else writes to any more. */
  constructor(private readonly raw: ServerResponse) {
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that buffer would hold the events back.
      'x-accel-buffering': 'no',
      // It ends with its stream: left open, it would hold up a process that ends.
      connection: 'close',
    });
    raw.write('retry: 1000\n\n');
    raw.on('close', () => this.gone.abort());
    this.heartbeat = setInterval(() => raw.write(': heartbeat\n\n'), heartbeatMs);
    this.gone.signal.addEventListener('abort', () => clearInterval(this.heartbeat));
  }

  /** Fires when the reader is gone. */
  get closed(): AbortSignal {
    return this.gone.signal;
  }

  /** Waits for a slow reader, for a minute at most; then the reader is disconnected and comes back with Last-Event-ID. */
  async send(event: string, data: Json, id?: number): Promise<void> {
    if (this.closed.aborted || this.raw.write(frame(event, data, id))) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.raw.destroy();
        resolve();
      }, stuckMs);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.raw.once('drain', done);
      this.raw.once('close', done);
    });
  }

  /** Drops the piece when the reader is slow: it is not promised, and what is recorded comes anyway. */
  sendLive(event: string, data: Json): void {
    if (!this.closed.aborted && !this.raw.writableNeedDrain) this.raw.write(frame(event, data));
  }

  end(event: string, data: Json): void {
    clearInterval(this.heartbeat);
    if (!this.closed.aborted) this.raw.end(frame(event, data));
  }
}
