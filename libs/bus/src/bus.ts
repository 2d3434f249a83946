import { Injectable } from '@nestjs/common';
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { JetStreamClient, JetStreamManager, Msg, NatsConnection } from 'nats';
import { headerNames, maxCommandBytes, NightshiftError, subjectOf } from '@nightshift/contracts';
import type { CommandRoute, EventRoute, LiveRoute, RequestRoute, Route } from '@nightshift/contracts';
import type { Logger, Metrics } from '@nightshift/metrics';
import { subscribeEvents, subscribeLive } from './commands/listeners';
import { connectNats, inboxPrefix, type ConnectionSettings } from './connection';
import type {
  CommandOptions,
  EventOptions,
  GatherOptions,
  LiveOptions,
  EventSubscription,
  MessageListener,
  RequestOptions,
  Stop,
} from './options';
import { Caller } from './requests/caller';
import { defaultTimings, type BusTimings } from './requests/timings';
import { openBucket } from './kv/bucket';
import type { Kv, KvOptions } from './kv/kv';
import { Drain } from './service/drain';
import { consumerPlan } from './topology/plan';
import { ensureConsumer, removeConsumer, type OnDrift } from './topology/provision';
import { decodeBody, encodeBody } from './wire/bodies';
import { ClaimCheck } from './wire/claim-check';
import { checkTeam, deadlineAt, header, outgoingHeaders } from './wire/headers';
import { fromNats } from './wire/nats-errors';
import { Outbox } from './wire/outbox';

export interface BusSettings extends ConnectionSettings {
  ackWaitMs: number;
  onDrift: OnDrift;
  timings?: BusTimings;
}

/** A publish is tried again for this long: a server that restarts is back within a second. */
const publishWithinMs = 5_000;
const publishTryMs = 1_500;
const publishPauseMs = 100;

function subject(route: Route, key: string | undefined): string {
  try {
    return subjectOf(route, key);
  } catch (cause) {
    throw new NightshiftError('INVALID_ARGUMENT', (cause as Error).message, { cause });
  }
}

/** The sending half of the bus, for every service. Throws NightshiftError only. */
@Injectable()
export class Bus {
  readonly claims: ClaimCheck;
  /** How far this process is with ending. */
  readonly drain = new Drain();
  /** Requests and their answers leave through it. */
  readonly outbox = new Outbox();
  private readonly caller: Caller;
  private readonly buckets = new Map<string, Promise<Kv>>();

  private constructor(
    readonly connection: NatsConnection,
    readonly stream: JetStreamClient,
    readonly manager: JetStreamManager,
    readonly settings: BusSettings,
    readonly metrics: Metrics,
    readonly logger: Logger,
  ) {
    this.caller = new Caller(connection, this.timings, this.outbox, inboxPrefix(settings.service));
    this.claims = new ClaimCheck(stream, () => connection.info?.max_payload ?? 1024 * 1024, metrics);
  }

  /** Waits until the server is there. */
  static async connect(settings: BusSettings, metrics: Metrics, logger: Logger): Promise<Bus> {
    const connection = await connectNats(settings, metrics, logger);
    // Without the check: JetStream may still be starting when the connection stands already.
    const manager = await connection.jetstreamManager({ checkAPI: false });
    return new Bus(connection, connection.jetstream(), manager, settings, metrics, logger);
  }

  get timings(): BusTimings {
    return this.settings.timings ?? defaultTimings;
  }

  /** Asks and waits for the answer. A long route is kept alive both ways, and its work is aborted when this caller gives up. */
  async request<I extends DescMessage, O extends DescMessage>(
    route: RequestRoute<I, O>,
    init: MessageInitShape<I>,
    options: RequestOptions,
  ): Promise<MessageShape<O>> {
    const now = Date.now();
    const until = deadlineAt(options.deadlineMs ?? route.deadlineMs, now);
    const encoded = encodeBody(route.input, init);
    const claimCheck = this.claims.needed(encoded) ? await this.claims.put(encoded, until - now, 'request') : undefined;
    const reply = await this.caller.call({
      route,
      subject: subject(route, options.key),
      body: claimCheck === undefined ? encoded : new Uint8Array(),
      outgoing: { team: options.team, deadlineAt: until, ...(claimCheck === undefined ? {} : { claimCheck }) },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return this.replyOf(route, reply);
  }

  /** Asks every instance; whoever does not answer in time, or answers with an error, is missing in the list. */
  async gather<I extends DescMessage, O extends DescMessage>(
    route: RequestRoute<I, O>,
    init: MessageInitShape<I>,
    options: GatherOptions,
  ): Promise<MessageShape<O>[]> {
    const replies = await this.caller.gather(
      {
        route,
        subject: subject(route, undefined),
        body: encodeBody(route.input, init),
        outgoing: { team: options.team, deadlineAt: Date.now() + options.waitMs },
      },
      options.waitMs,
      options.expect ?? Infinity,
      (error) => this.logger.warn({ error, route: route.name }, 'one party answered with an error'),
    );
    return Promise.all(replies.map((reply) => this.replyOf(route, reply)));
  }

  /** Puts a command on its queue; resolves once the server has it. Throws PAYLOAD_TOO_LARGE above 64 KB, BUSY when the queue is full. */
  command<I extends DescMessage>(route: CommandRoute<I>, init: MessageInitShape<I>, options: CommandOptions): Promise<void> {
    return this.publish(route, init, options.team, options.messageId, options.key);
  }

  /** Tells a fact to whoever reads it; resolves once the server has it. */
  event<I extends DescMessage>(route: EventRoute<I>, init: MessageInitShape<I>, options: EventOptions): Promise<void> {
    return this.publish(route, init, options.team, options.messageId);
  }

  /** Fire and forget, without any guarantee: while the server is away it is dropped, not kept in memory. */
  live<I extends DescMessage>(route: LiveRoute<I>, init: MessageInitShape<I>, options: LiveOptions): void {
    if (this.fault() !== undefined) return;
    this.connection.publish(subject(route, `${checkTeam(options.team)}.${options.task}`), encodeBody(route.input, init), {
      headers: outgoingHeaders({ team: options.team }),
    });
  }

  subscribeLive<I extends DescMessage>(route: LiveRoute<I>, of: LiveOptions, onMessage: MessageListener<I>): Stop {
    return subscribeLive(this, route, subject(route, `${of.team}.${of.task}`), onMessage);
  }

  /** Every event from now on, in this instance, without a durable: what happens while it is away is missed. */
  subscribeEvents<I extends DescMessage>(route: EventRoute<I>, onMessage: MessageListener<I>): EventSubscription {
    return subscribeEvents(this, route, onMessage);
  }

  /** Opens a bucket, created on first use. */
  kv(bucket: string, options: KvOptions = {}): Promise<Kv> {
    let opened = this.buckets.get(bucket);
    if (opened === undefined) {
      opened = openBucket(this.connection, this.stream, bucket, options);
      this.buckets.set(bucket, opened);
      opened.catch(() => this.buckets.delete(bucket));
    }
    return opened;
  }

  /** Creates the queue of one key (a runner) unless it is there. */
  openKeyed(route: CommandRoute, key: string): Promise<void> {
    return ensureConsumer(this.manager, consumerPlan(route, route.owner, this.settings.ackWaitMs, key), this.settings.onDrift);
  }

  /** Deletes the queue of one key with what waits in it. */
  closeKeyed(route: CommandRoute, key: string): Promise<void> {
    return removeConsumer(this.manager, consumerPlan(route, route.owner, this.settings.ackWaitMs, key));
  }

  /** Why nothing can be sent now; undefined = fine. */
  fault(): string | undefined {
    if (this.connection.isClosed()) return 'nats: the connection is closed';
    return this.connected ? undefined : 'nats: not connected, reconnecting';
  }

  /** What was published so far has reached the server. */
  flush(): Promise<void> {
    this.outbox.flush();
    return this.connection.flush();
  }

  /** Ends requests in flight with UNAVAILABLE, sends what is buffered, and closes. */
  async close(): Promise<void> {
    this.caller.close();
    this.outbox.flush();
    if (this.connection.isClosed()) return;
    // A drain waits for the server; without one it would wait for ever.
    if (this.connected) await this.connection.drain();
    else await this.connection.close();
  }

  private get connected(): boolean {
    return (this.connection as unknown as { protocol?: { connected?: boolean } }).protocol?.connected ?? true;
  }

  private async replyOf<O extends DescMessage>(route: RequestRoute<DescMessage, O>, reply: Msg): Promise<MessageShape<O>> {
    const claim = header(reply.headers, headerNames.claimCheck);
    return decodeBody(route.output, claim === undefined ? reply.data : await this.claims.take(claim));
  }

  private async publish<I extends DescMessage>(
    route: CommandRoute<I> | EventRoute<I>,
    init: MessageInitShape<I>,
    team: string,
    messageId: string,
    key?: string,
  ): Promise<void> {
    const body = encodeBody(route.input, init);
    if (body.length > maxCommandBytes) {
      throw new NightshiftError(
        'PAYLOAD_TOO_LARGE',
        `${route.name}: ${body.length} bytes, a ${route.delivery} carries at most ${maxCommandBytes}`,
        {
          details: { bytes: body.length, limit: maxCommandBytes },
        },
      );
    }
    if (!messageId) throw new NightshiftError('INVALID_ARGUMENT', `${route.name}: expected a message id`);
    const to = subject(route, key);
    const headers = outgoingHeaders({ team, messageId });
    // An answer lost with its connection: the same message id again is one message for the server.
    const until = Date.now() + publishWithinMs;
    for (;;) {
      try {
        await new Promise<void>((resolve) => this.outbox.push(resolve));
        await this.stream.publish(to, body, { headers, msgID: messageId, timeout: publishTryMs });
        return;
      } catch (error) {
        const fault = fromNats(error, route.name);
        if (fault.code !== 'UNAVAILABLE' || Date.now() >= until || this.connection.isClosed()) throw fault;
        await new Promise((resolve) => setTimeout(resolve, publishPauseMs));
      }
    }
  }
}
