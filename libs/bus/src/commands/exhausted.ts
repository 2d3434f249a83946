import type { Subscription } from 'nats';
import type { Bus } from '../bus';
import type { Letter } from './dead-letters';
import type { PullSource } from './pull-loop';

export interface ExhaustedOptions {
  source: PullSource;
  route: string;
  /** Instances of this service share the advisories. */
  service: string;
  /** False for a durable that shares its stream with others (runners): its stream says nothing about this queue alone. */
  ownStream: boolean;
  scanMs: number;
  bury: (letter: Letter) => Promise<void>;
}

/** Looked at in one scan; the next one goes on. */
const scanLimit = 100;
const settleMs = 500;

/**
 * The second signal about poison. Past max_deliver the server gives a message to nobody any more, but leaves it in its work
 * queue. It says so once, in an advisory that is lost when nobody listens; so an idle queue that is not empty is looked into too.
 */
export class ExhaustedWatch {
  private readonly advisories: Subscription[];
  private readonly timer: NodeJS.Timeout | undefined;
  /** First message of the queue when it was last found idle and not empty. */
  private suspect = 0;

  constructor(
    private readonly bus: Bus,
    private readonly options: ExhaustedOptions,
  ) {
    const { stream, consumer } = options.source;
    const counter = bus.metrics.counter('bus_advisories');
    const hear = (event: string, kind: 'max_deliveries' | 'terminated', then: (seq: number) => void): Subscription => {
      counter.inc({ route: options.route, kind }, 0);
      return bus.connection.subscribe(`$JS.EVENT.ADVISORY.CONSUMER.${event}.${stream}.${consumer}`, {
        queue: options.service,
        callback: (error, message) => {
          if (error) return;
          counter.inc({ route: options.route, kind });
          then((message.json() as { stream_seq: number }).stream_seq);
        },
      });
    };
    this.advisories = [
      hear('MAX_DELIVERIES', 'max_deliveries', (seq) => this.attempt(() => this.take(seq))),
      hear('MSG_TERMINATED', 'terminated', () => undefined),
    ];
    if (options.ownStream) {
      this.timer = setInterval(() => this.attempt(() => this.scan()), options.scanMs);
      this.timer.unref();
    }
  }

  stop(): void {
    clearInterval(this.timer);
    if (!this.bus.connection.isClosed()) for (const each of this.advisories) each.unsubscribe();
  }

  /** What fails here is tried again by the next scan. */
  private attempt(work: () => Promise<void>): void {
    if (this.bus.fault() !== undefined) return;
    work().catch((error: unknown) =>
      this.bus.logger.warn({ error, queue: this.options.source.stream }, 'exhausted messages stay'),
    );
  }

  /** Nothing waits and nothing is in flight, yet the queue is not empty, twice with the same first message. */
  private async scan(): Promise<void> {
    const { stream, consumer } = this.options.source;
    const { state } = await this.bus.manager.streams.info(stream);
    const suspect = state.messages === 0 ? 0 : state.first_seq;
    const seenBefore = suspect !== 0 && suspect === this.suspect;
    this.suspect = suspect;
    if (!seenBefore) return;
    const idle = async (): Promise<boolean> => {
      const info = await this.bus.manager.consumers.info(stream, consumer);
      return info.num_pending + info.num_ack_pending === 0;
    };
    if (!(await idle())) return;
    // An acknowledged message leaves its stream a moment after it left the consumer.
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    if (!(await idle())) return;
    // What was published after the first look at the stream is none of them.
    const last = Math.min(state.last_seq, state.first_seq + scanLimit - 1);
    for (let seq = state.first_seq; seq <= last; seq++) await this.take(seq);
  }

  private async take(seq: number): Promise<void> {
    const { stream, consumer } = this.options.source;
    const { manager } = this.bus;
    const stored = await manager.streams.getMessage(stream, { seq }).catch(() => undefined);
    // Settled meanwhile, by another replica for example.
    if (stored === undefined) return;
    const delivery = (await manager.consumers.info(stream, consumer)).config.max_deliver ?? 0;
    await this.options.bury({
      stream,
      consumer,
      streamSeq: seq,
      delivery,
      subject: stored.subject,
      body: stored.data,
      headers: stored.header,
    });
    await manager.streams.deleteMessage(stream, seq).catch(() => false);
  }
}
