import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { headerNames, NightshiftError } from '@nightshift/contracts';
import { withSpan, type Metrics } from '@nightshift/metrics';
import type { Bus } from '../bus';
import type { BusContext } from '../context';
import { inboxPrefix } from '../connection';
import { invoke, type Handler } from '../requests/invoke';
import { Slots } from '../requests/slots';
import { deliveryLimit, maxDeliver, type StreamRoute } from '../topology/plan';
import { decodeBody } from '../wire/bodies';
import { checkTeam, header } from '../wire/headers';
import { closeDelivery, openDelivery, type DeliveryFacts } from './ack-policy';
import { putDeadLetter, type Letter } from './dead-letters';
import type { Delivered } from './delivered';
import { ExhaustedWatch } from './exhausted';
import { PullLoop, type PullSource } from './pull-loop';
import { Uncounted } from './uncounted';

export interface WorkerOptions {
  route: StreamRoute;
  source: PullSource;
  key?: string;
  /** Makes sure that the durable exists, or tells that it does not yet. */
  prepare: () => Promise<boolean>;
  handler: Handler;
  concurrency: number;
  onDeadLetter?: (message: MessageShape<DescMessage>, context: BusContext, reason: string) => Promise<void>;
}

interface Readable {
  input: MessageShape<DescMessage>;
  context: BusContext;
}

type Outcome = 'ack' | 'fenced' | 'nak' | 'nak_uncounted' | 'held' | 'dead_letter' | 'drained';

const defaultScanMs = 60_000;
/** Messages sent back by a drain come to another replica soon. */
const drainDelayMs = 100;

/** One durable's consumer: pulls as much as it has slots for, keeps what runs alive, and answers to the server. */
export class Worker {
  private readonly slots: Slots;
  private readonly loop: PullLoop;
  private readonly uncounted: Uncounted;
  private readonly exhausted: ExhaustedWatch;
  private readonly running = new Map<Delivered, AbortController>();
  private draining = false;

  constructor(
    private readonly bus: Bus,
    private readonly options: WorkerOptions,
  ) {
    this.slots = new Slots(options.concurrency, 0, () => this.loop.pull());
    this.uncounted = new Uncounted(bus);
    const { route } = options;
    // From zero, or the first one would be no increase.
    this.metrics.counter('bus_dead_letters').inc({ route: route.name }, 0);
    this.metrics.counter('bus_redeliveries').inc({ route: route.name }, 0);
    // Before the first pull: that is when the server speaks.
    this.exhausted = new ExhaustedWatch(bus, {
      source: options.source,
      route: route.name,
      service: bus.settings.service,
      ownStream: route.delivery === 'command' && route.key === 'none',
      scanMs: bus.timings.scanMs ?? defaultScanMs,
      bury: (letter) => this.buryExhausted(letter),
    });
    const gauge = this.metrics.gauge('bus_handlers_running');
    this.metrics.onScrape(() => gauge.set({ route: route.name }, this.slots.running));
    this.loop = new PullLoop(bus.connection, inboxPrefix(bus.settings.service), options.source, {
      free: () => this.slots.free,
      connected: () => bus.fault() === undefined,
      prepare: options.prepare,
      deliver: (message) => this.take(message),
      rebuilt: (reason) => {
        this.metrics.counter('bus_consume_loops_rebuilt').inc({ route: route.name });
        bus.logger.debug({ route: route.name, reason }, 'asking for messages anew');
      },
    });
  }

  private get metrics(): Metrics {
    return this.bus.metrics;
  }

  get source(): PullSource {
    return this.options.source;
  }

  get routeName(): string {
    return this.options.route.name;
  }

  /** Why this worker looks dead although its process lives; undefined = fine. */
  fault(now: number, withinMs: number): string | undefined {
    if (this.slots.free === 0 || now - this.loop.lastSign <= withinMs) return undefined;
    return `${this.routeName}: the server has not been heard from for ${Math.round((now - this.loop.lastSign) / 1000)} s`;
  }

  /** Pulls nothing more; what is under way goes back at once. */
  async stopPulling(): Promise<void> {
    this.draining = true;
    this.exhausted.stop();
    await this.loop.stop();
  }

  idle(): Promise<void> {
    return this.slots.idle();
  }

  /** Handlers are told to stop; their messages go back to the queue, not counted. */
  abort(reason: NightshiftError): void {
    for (const abort of this.running.values()) abort.abort(reason);
  }

  /** What still runs is sent back now: the process is about to end. */
  giveBack(): void {
    for (const message of this.running.keys()) this.sendBack(message);
  }

  private take(message: Delivered): void {
    if (message.delivery > 1) this.metrics.counter('bus_redeliveries').inc({ route: this.routeName });
    const taken = !this.draining && this.slots.offer(() => this.deliver(message));
    if (!taken) {
      this.sendBack(message);
      if (!this.draining) this.bus.logger.warn({ route: this.routeName }, 'a message came without a free slot');
    }
  }

  /** Nobody failed: soon, to whoever has a slot. */
  private sendBack(message: Delivered): void {
    this.uncounted
      .add(message)
      .catch((error: unknown) => this.bus.logger.warn({ error, route: this.routeName }, 'not noted as uncounted'));
    message.nak(drainDelayMs);
    this.count('drained');
  }

  /** Never rejects: every way out is an answer to the server. */
  private async deliver(message: Delivered): Promise<void> {
    const abort = new AbortController();
    this.running.set(message, abort);
    const alive = setInterval(() => message.working(), this.bus.settings.ackWaitMs / 3);
    // A handler that never ends must not hold a process that has given its work back.
    alive.unref();
    try {
      await this.work(message, abort.signal);
    } catch (error) {
      // Only the bus itself can fail here (no server, no owner for a dead letter): the message comes again.
      this.bus.logger.error({ error, route: this.routeName, delivery: message.delivery }, 'a delivery could not be settled');
      message.nak(this.bus.settings.ackWaitMs / 3);
      this.count('nak_uncounted');
    } finally {
      clearInterval(alive);
      this.running.delete(message);
    }
  }

  private async work(message: Delivered, signal: AbortSignal): Promise<void> {
    const { route } = this.options;
    const near = message.delivery > deliveryLimit;
    const facts: DeliveryFacts = {
      delivery: message.delivery,
      uncounted: near ? await this.uncounted.of(message) : 0,
      limit: deliveryLimit,
      maxDeliver,
      ackWaitMs: this.bus.settings.ackWaitMs,
    };
    const readable = this.read(message, signal);
    // Nobody can ever read it: no second try.
    if (readable === undefined) return this.bury(message, undefined, `expected a team and a ${route.input.typeName}`);
    const { input, context } = readable;
    const opening = openDelivery(facts);
    if (opening.do === 'deadLetter') return this.bury(message, readable, opening.reason);
    for (;;) {
      const fault = await this.handle(input, context, message);
      const closing = this.draining && fault !== undefined && signal.aborted ? undefined : closeDelivery(fault, facts);
      if (closing === undefined) return this.sendBack(message);
      switch (closing.do) {
        case 'ack':
          this.bus.outbox.push(() => message.ack());
          return this.count(closing.outcome);
        case 'nak':
          if (!closing.counted) await this.uncounted.add(message);
          message.nak(closing.delayMs);
          return this.count(closing.counted ? 'nak' : 'nak_uncounted');
        case 'hold':
          this.count('held');
          await pause(closing.delayMs, signal);
      }
    }
  }

  private async handle(
    input: MessageShape<DescMessage>,
    context: BusContext,
    message: Delivered,
  ): Promise<NightshiftError | undefined> {
    const { route, handler } = this.options;
    const started = performance.now();
    try {
      // A link, not a parent: redelivery would put two lives of the work under one parent.
      await withSpan(
        `handle ${route.name}`,
        { 'messaging.system': 'nats', 'messaging.destination.name': route.subject, 'messaging.nats.delivery': message.delivery },
        () => invoke(handler, input, context),
        message.delivery > 1
          ? { link: (name) => header(message.headers, name) }
          : { parent: (name) => header(message.headers, name) },
      );
      return undefined;
    } catch (error) {
      const fault = NightshiftError.from(error);
      this.bus.logger.warn({ route: route.name, delivery: message.delivery, code: fault.code, error: fault }, 'a handler failed');
      return fault;
    } finally {
      this.metrics.histogram('bus_handler_duration_seconds').observe({ route: route.name }, (performance.now() - started) / 1000);
    }
  }

  /** Stored, then its owner told, then off the queue: a crash in between repeats the put, which is the same row. */
  private async bury(message: Delivered, readable: Readable | undefined, reason: string): Promise<void> {
    await putDeadLetter(this.bus, this.options.route, message, reason);
    if (readable !== undefined) await this.options.onDeadLetter?.(readable.input, readable.context, reason);
    message.term();
    this.buried(message, reason);
  }

  private async buryExhausted(letter: Letter): Promise<void> {
    const { route, onDeadLetter } = this.options;
    const reason = 'the server has given up: every delivery ended without an answer';
    await putDeadLetter(this.bus, route, letter, reason);
    const readable = this.read(letter, new AbortController().signal);
    if (readable !== undefined) await onDeadLetter?.(readable.input, readable.context, reason);
    this.buried(letter, reason);
  }

  private buried(letter: Letter, reason: string): void {
    this.metrics.counter('bus_dead_letters').inc({ route: this.routeName });
    this.count('dead_letter');
    this.bus.logger.error({ route: this.routeName, reason, delivery: letter.delivery }, 'dead letter');
  }

  /** undefined: without a team, or not the message that the route carries. */
  private read(letter: Letter, signal: AbortSignal): Readable | undefined {
    try {
      return { context: this.context(letter, signal), input: decodeBody(this.options.route.input, letter.body) };
    } catch (error) {
      this.bus.logger.warn({ error, route: this.routeName }, 'a message nobody can read');
      return undefined;
    }
  }

  private context(message: Letter, signal: AbortSignal): BusContext {
    const messageId = header(message.headers, headerNames.messageId);
    return {
      team: checkTeam(header(message.headers, headerNames.team)),
      signal,
      encoded: message.body,
      deadlineMs: Infinity,
      delivery: message.delivery,
      redelivered: message.delivery > 1,
      subject: message.subject,
      ...(this.options.key === undefined ? {} : { key: this.options.key }),
      ...(messageId === undefined ? {} : { messageId }),
    };
  }

  private count(outcome: Outcome): void {
    this.metrics.counter('bus_deliveries').inc({ route: this.routeName, outcome });
  }
}

/** Ends early when the process shuts down. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
