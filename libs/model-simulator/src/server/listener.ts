import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Longer than any client keeps an idle connection, else a reused one is reset under it. */
const KEEP_ALIVE_MS = 120_000;

/** A port on the loopback interface that can be closed and opened again, as a server that dies and comes back. */
export class Listener {
  private server: Server | undefined;

  constructor(
    private port: number,
    private readonly handle: RequestListener,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async open(): Promise<void> {
    if (this.server !== undefined) return;
    const server = createServer(this.handle);
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.requestTimeout = 0;
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}
