import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { NightshiftError, routeOfSubject, type RequestRoute, type Route, type RouteName } from '@nightshift/contracts';
import type { Bus } from '../bus';
import type { WorkerOptions } from '../commands/worker';
import { Worker } from '../commands/worker';
import { Answerer } from '../requests/answerer';
import type { Handler } from '../requests/invoke';
import {
  consumerName,
  consumerPlan,
  isStreamRoute,
  streamName,
  streamPlan,
  streamRoutesOf,
  type StreamRoute,
} from '../topology/plan';
import { findConsumer, ensureConsumer, ensureStream } from '../topology/provision';
import { bootFaults, type Declared } from './boot-check';
import { watchQueues } from './queue-gauges';
import type { ServiceOptions } from './service-options';
import { within } from './within';

const concurrencyOfWork = 8;
const concurrencyOfRequests = 64;
const concurrencyOfLongRequests = 256;
const jetStreamWithinMs = 30_000;

/** A worker that neither pulled nor heard an idle sign for this long is not ready, however healthy its process looks. */
const signWithinMs = 20_000;

/** The receiving half of the bus behind Nest's transport seam. */
export class BusStrategy extends Server implements CustomTransportStrategy {
  private readonly counts = new Map<string, number>();
  private readonly workers: Worker[] = [];
  private readonly answerer: Answerer;
  private listening = false;

  constructor(
    private readonly bus: Bus,
    private readonly options: ServiceOptions,
  ) {
    super();
    this.answerer = new Answerer(bus, options.service);
  }

  /** Nest keeps the last of two request handlers without a word; we count. */
  override addHandler(
    pattern: unknown,
    callback: Parameters<Server['addHandler']>[1],
    isEvent = false,
    extras: Record<string, unknown> = {},
  ): void {
    const name = this.normalizePattern(pattern as string);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    super.addHandler(pattern, callback, isEvent, extras);
  }

  listen(callback: (error?: unknown) => void): void {
    this.start().then(() => callback(), callback);
  }

  /** Nest closes what `drain` has already emptied. */
  close(): void {
    this.answerer.close();
  }

  on(): never {
    throw new NightshiftError('INTERNAL', 'the bus has no events of its own');
  }

  unwrap<T>(): T {
    return this.bus as T;
  }

  /** Why this process cannot work, as far as the bus can tell. */
  faults(now: number): string[] {
    const fault = this.bus.fault();
    if (fault !== undefined) return [fault];
    if (!this.listening) return ['bus: not listening yet'];
    return this.workers.flatMap((worker) => worker.fault(now, signWithinMs) ?? []);
  }

  /** No new work; what runs may end within the time, then it is told to stop, and what is left goes back to its queue. */
  async drain(graceMs: number): Promise<void> {
    // Without a server the farewells would wait for ever; there is nothing new to take then either.
    await within(
      Promise.all([this.answerer.stopAccepting(), ...this.workers.map((worker) => worker.stopPulling())]),
      graceMs * 0.2,
    );
    const idle = Promise.all([this.answerer.idle(), this.bus.drain.idle(), ...this.workers.map((worker) => worker.idle())]);
    // The last tenth of the time is for handlers that react to their signal.
    if (await within(idle, graceMs * 0.7)) return;
    const reason = new NightshiftError('UNAVAILABLE', 'this process shuts down', { retryAfterMs: 1_000 });
    this.bus.drain.abort(reason);
    this.answerer.abort(reason);
    for (const worker of this.workers) worker.abort(reason);
    if (await within(idle, graceMs * 0.1)) return;
    for (const worker of this.workers) worker.giveBack();
  }

  private keyOf(route: Route): string | undefined {
    const keys = this.options.keys ?? {};
    if (route.key === 'none') return undefined;
    return keys[route.name as RouteName] ?? keys.runner ?? (route.key === 'runner' ? keys.toolRun : undefined);
  }

  private async start(): Promise<void> {
    const { service, partial } = this.options;
    const declared: Declared[] = [...this.messageHandlers].map(([pattern, handler]) => ({
      pattern,
      kind: handler.isEventHandler ? 'event' : 'request',
      count: this.counts.get(pattern) ?? 1,
    }));
    const faults = bootFaults(service, declared, (route) => this.keyOf(route), partial);
    if (faults.length > 0) {
      throw new NightshiftError(
        'FAILED_PRECONDITION',
        `${service}: handlers differ from the routes table\n  ${faults.join('\n  ')}`,
        { faults },
      );
    }
    await patiently(async () => {
      await this.provision();
      await this.provisionReaders(declared);
    });
    for (const { pattern } of declared) {
      const route = routeOfSubject(pattern)!;
      const handler = this.messageHandlers.get(pattern) as unknown as Handler;
      if (isStreamRoute(route)) this.work(route, handler);
      else if (route.delivery === 'request') this.answer(route, handler);
    }
    watchQueues(this.bus, this.options.service);
    // Subscriptions are known to the server before anybody is told that this service listens.
    await this.bus.flush();
    this.listening = true;
  }

  /** Streams of every route this service sends, reads or owns, and the durables of their owners: a queue may be filled first. */
  private async provision(): Promise<void> {
    const { manager, settings } = this.bus;
    await Promise.all(
      streamRoutesOf(this.options.service).map(async (route) => {
        await ensureStream(manager, streamPlan(route), settings.onDrift);
        if (route.delivery !== 'command' || route.key !== 'none') return;
        await ensureConsumer(manager, consumerPlan(route, route.owner, settings.ackWaitMs), settings.onDrift);
      }),
    );
  }

  /** An event's durable belongs to its reader. */
  private async provisionReaders(declared: readonly Declared[]): Promise<void> {
    const { manager, settings } = this.bus;
    for (const { pattern } of declared) {
      const route = routeOfSubject(pattern);
      if (route?.delivery !== 'event') continue;
      await ensureConsumer(manager, consumerPlan(route, this.options.service, settings.ackWaitMs), settings.onDrift);
    }
  }

  private work(route: StreamRoute, handler: Handler): void {
    const { service, concurrency, deadLetter } = this.options;
    const key = this.keyOf(route);
    const name = route.name as RouteName;
    const options: WorkerOptions = {
      route,
      source: { stream: streamName(route), consumer: consumerName(service, key) },
      prepare: () => this.prepare(route, key),
      handler,
      concurrency: concurrency?.[name] ?? concurrencyOfWork,
    };
    if (key !== undefined) options.key = key;
    const hook = deadLetter?.[name];
    if (hook !== undefined) options.onDeadLetter = (message, context, reason) => hook(message as never, context, reason);
    this.workers.push(new Worker(this.bus, options));
  }

  /** A durable that vanished is made again; the one of a runner is made and removed by the orchestrator, so it is waited for. */
  private async prepare(route: StreamRoute, key: string | undefined): Promise<boolean> {
    const { manager, settings } = this.bus;
    const plan = consumerPlan(route, this.options.service, settings.ackWaitMs, key);
    if (key !== undefined) return (await findConsumer(manager, plan)) !== undefined;
    await ensureStream(manager, streamPlan(route), settings.onDrift);
    await ensureConsumer(manager, plan, settings.onDrift);
    return true;
  }

  private answer(route: RequestRoute, handler: Handler): void {
    const limit =
      this.options.concurrency?.[route.name as RouteName] ?? (route.long ? concurrencyOfLongRequests : concurrencyOfRequests);
    this.answerer.serve(route, handler, this.keyOf(route), limit);
  }
}

/** A server that has just started has no JetStream yet: it is waited for. */
async function patiently(work: () => Promise<void>): Promise<void> {
  const until = Date.now() + jetStreamWithinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (NightshiftError.from(error).code !== 'UNAVAILABLE' || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
