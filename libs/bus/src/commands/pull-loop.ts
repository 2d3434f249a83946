import { createInbox, Events, nanos, type Msg, type NatsConnection, type Subscription } from 'nats';
import { Delivered } from './delivered';

export interface PullSource {
  stream: string;
  consumer: string;
}
export interface PullHooks {
  /** Handlers that could start now. */
  free(): number;
  connected(): boolean;
  /** True once the durable is there; asked before the first request and after every one that failed. */
  prepare(): Promise<boolean>;
  /** Takes a slot before it returns. */
  deliver(message: Delivered): void;
  /** A request for messages ended in a way it should not; the loop goes on by itself. */
  rebuilt(reason: string): void;
}

/** How long the server holds a request for messages open. */
const expiresMs = 30_000;
/** The server's sign of life on an idle request; after two silent ones it is asked anew. */
const idleMs = 5_000;
const retryMs = 500;

/**
 * Asks for exactly as many messages as there are free slots, one request at a time, and never reads ahead: a message that
 * waits in a process is one no other replica can work on, and its ack_wait runs.
 */
export class PullLoop {
  private base = '';
  private subscription: Subscription;
  private readonly watchdog: NodeJS.Timeout;
  private readonly statuses: AsyncIterable<{ type: string }> & { stop?: () => void };
  private number = 0;
  /** Messages the open request may still bring. */
  private outstanding = 0;
  private askedAt = 0;
  private heardAt = Date.now();
  private prepared = false;
  private preparing = false;
  private stopping = false;
  private retry: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly inboxPrefix: string,
    private readonly source: PullSource,
    private readonly hooks: PullHooks,
  ) {
    this.subscription = this.listen();
    this.watchdog = setInterval(() => this.watch(), idleMs);
    this.statuses = connection.status();
    void this.askAgainAfterReconnect();
    this.pull();
  }

  /** When the server last showed that this loop is alive: milliseconds since 1970. */
  get lastSign(): number {
    return this.heardAt;
  }

  /** A slot became free. */
  pull(): void {
    // A request sent into a lost connection would be sent again after it, beside the one for the new connection.
    if (this.stopping || this.outstanding > 0 || this.retry !== undefined || !this.hooks.connected()) return;
    // The server says nothing at all to a request for a durable that is not there.
    if (!this.prepared) return void this.prepare();
    const batch = this.hooks.free();
    if (batch <= 0) return;
    this.number++;
    this.outstanding = batch;
    this.askedAt = Date.now();
    const request = { batch, expires: nanos(expiresMs), idle_heartbeat: nanos(idleMs) };
    this.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${this.source.stream}.${this.source.consumer}`, JSON.stringify(request), {
      reply: this.base + this.number,
    });
  }

  /** Asks for nothing more; messages under way are still handed over (to be sent back), so that none waits for its ack_wait. */
  async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    clearInterval(this.watchdog);
    clearTimeout(this.retry);
    this.statuses.stop?.();
    if (!this.connection.isClosed()) await this.subscription.drain();
  }

  private listen(): Subscription {
    const base = `${createInbox(this.inboxPrefix)}.`;
    this.base = base;
    return this.connection.subscribe(`${base}*`, { callback: (error, message) => this.receive(base, error, message) });
  }

  private receive(base: string, error: unknown, message: Msg): void {
    if (error) return this.ended(`subscription: ${String(error)}`, true);
    this.heardAt = Date.now();
    // A status comes on the reply subject, a message under its own.
    if (!message.subject.startsWith(base)) {
      if (base === this.base && this.outstanding > 0) this.outstanding--;
      this.hooks.deliver(new Delivered(message));
      this.pull();
      return;
    }
    if (message.subject !== this.base + this.number) return;
    const code = message.headers?.code ?? 0;
    if (code === 100) return;
    const description = message.headers?.description ?? '';
    // 408: nothing came in time, or it is the end of a partly filled request.
    if (code === 408) return this.ended(description, false);
    this.ended(`${code} ${description}`, true);
  }

  private ended(reason: string, unexpected: boolean): void {
    this.outstanding = 0;
    if (this.stopping) return;
    if (unexpected) {
      this.prepared = false;
      this.hooks.rebuilt(reason);
    }
    this.pull();
  }

  private async prepare(): Promise<void> {
    if (this.preparing) return;
    this.preparing = true;
    try {
      this.prepared = await this.hooks.prepare();
      this.heardAt = Date.now();
    } catch (error) {
      if (!this.stopping) this.hooks.rebuilt(String(error));
    } finally {
      this.preparing = false;
    }
    if (this.stopping) return;
    if (this.prepared) return this.pull();
    // A durable that is not there yet, or a server that is still starting: again, but not in a tight loop.
    clearTimeout(this.retry);
    this.retry = setTimeout(() => {
      this.retry = undefined;
      this.pull();
    }, retryMs);
  }

  private watch(): void {
    if (this.outstanding === 0) return this.pull();
    const quiet = Date.now() - Math.max(this.askedAt, this.heardAt);
    if (quiet > 2 * idleMs + 1_000) this.ended('no sign of life of the server', true);
  }

  /**
   * The server may keep a request over a lost connection, and would answer it beside the new one with more messages than
   * there are slots: so a new inbox, where the old request finds nobody.
   */
  private async askAgainAfterReconnect(): Promise<void> {
    for await (const status of this.statuses) {
      if (status.type !== Events.Reconnect || this.stopping) continue;
      const old = this.subscription;
      this.subscription = this.listen();
      this.ended('reconnected', true);
      old.drain().catch(() => undefined);
    }
  }
}
