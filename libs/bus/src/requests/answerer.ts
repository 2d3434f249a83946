import type { Msg, Subscription } from 'nats';
import { headers } from 'nats';
import type { MessageInitShape, DescMessage } from '@bufbuild/protobuf';
import { headerNames, NightshiftError, subjectOf, type RequestRoute, type ServiceName } from '@nightshift/contracts';
import { withSpan, type Metrics } from '@nightshift/metrics';
import type { Bus } from '../bus';
import type { BusContext } from '../context';
import { abortReason, decodeBody, encodeBody, encodeError } from '../wire/bodies';
import { checkTeam, header } from '../wire/headers';
import { invoke, type Handler } from './invoke';
import { Slots } from './slots';
import { keepAliveSubject, timerMs } from './timings';

type Outcome = 'ok' | 'error' | 'busy' | 'expired' | 'cancelled';

/** One request being worked on. */
interface Open {
  abort: AbortController;
  route: RequestRoute;
  /** When its caller last gave a sign of life. */
  heard: number;
}

const busyRetryMs = 250;

function lastToken(subject: string | undefined): string | undefined {
  return subject?.slice(subject.lastIndexOf('.') + 1);
}

/** The answering half: requests of the routes this instance has handlers for. */
export class Answerer {
  private readonly subscriptions: Subscription[] = [];
  private readonly slots = new Map<string, Slots>();
  private readonly open = new Set<Open>();
  private readonly longCalls = new Map<string, Open>();
  private beat: NodeJS.Timeout | undefined;
  private readonly beating = new Map<Msg, Open>();

  constructor(
    private readonly bus: Bus,
    private readonly service: ServiceName,
  ) {}

  private get metrics(): Metrics {
    return this.bus.metrics;
  }

  serve(route: RequestRoute, handler: Handler, key: string | undefined, concurrency: number): void {
    const slots = new Slots(concurrency, 4 * concurrency);
    this.slots.set(route.name, slots);
    const running = this.metrics.gauge('bus_handlers_running');
    this.metrics.onScrape(() => running.set({ route: route.name }, slots.running));
    const subscription = this.bus.connection.subscribe(subjectOf(route, key), {
      // A fan-out reaches every instance; anything else one of them.
      ...(route.fanOut ? {} : { queue: this.service }),
      callback: (error, message) => {
        if (error) this.bus.logger.error({ error, route: route.name }, 'a request subscription failed');
        else this.accept(route, handler, slots, message);
      },
    });
    this.subscriptions.push(subscription);
    if (route.long && this.beat === undefined) this.keepLongCallsAlive();
  }

  /** No new requests; those the server has already sent are still answered. */
  async stopAccepting(): Promise<void> {
    await Promise.all(this.subscriptions.splice(0).map((subscription) => subscription.drain()));
  }

  async idle(): Promise<void> {
    await Promise.all([...this.slots.values()].map((slots) => slots.idle()));
  }

  /** Tells every handler to stop. */
  abort(reason: NightshiftError): void {
    for (const open of this.open) open.abort.abort(reason);
  }

  close(): void {
    clearInterval(this.beat);
  }

  private accept(route: RequestRoute, handler: Handler, slots: Slots, message: Msg): void {
    const open: Open = { abort: new AbortController(), route, heard: Date.now() };
    const call = route.long ? lastToken(header(message.headers, headerNames.keepAlive)) : undefined;
    const taken = slots.offer(() => this.answer(route, handler, message, open, call));
    if (!taken) {
      this.count(route, 'busy');
      const busy = new NightshiftError('BUSY', `${route.name}: ${slots.limit} run and ${slots.queueLimit} wait`, {
        retryAfterMs: busyRetryMs,
      });
      return this.respondError(message, busy);
    }
    this.open.add(open);
    if (call !== undefined) {
      this.longCalls.set(call, open);
      // The first sign of life comes with the next beat, well before a caller counts as silent: most calls are over by then,
      // and a message of its own would cost each of them as much as its answer.
      this.beating.set(message, open);
    }
  }

  private async answer(route: RequestRoute, handler: Handler, message: Msg, open: Open, call: string | undefined): Promise<void> {
    const started = performance.now();
    const deadlineMs = Number(header(message.headers, headerNames.deadline) ?? Date.now() + route.deadlineMs);
    const remaining = deadlineMs - Date.now();
    const timer = setTimeout(
      () => open.abort.abort(new NightshiftError('DEADLINE_EXCEEDED', `${route.name}: the deadline passed`)),
      timerMs(remaining),
    );
    let outcome: Outcome = 'ok';
    try {
      if (remaining <= 0)
        throw new NightshiftError('DEADLINE_EXCEEDED', `${route.name}: the deadline had passed before work began`);
      if (open.abort.signal.aborted) throw abortReason(open.abort.signal);
      const team = checkTeam(header(message.headers, headerNames.team));
      const claim = header(message.headers, headerNames.claimCheck);
      const encoded = claim === undefined ? message.data : await this.bus.claims.take(claim);
      const context = contextOf(route, message, { team, encoded, deadlineMs, signal: open.abort.signal });
      const input = decodeBody(route.input, encoded);
      const reply = await withSpan(
        `answer ${route.name}`,
        { 'messaging.system': 'nats', 'messaging.destination.name': route.subject },
        () => invoke(handler, input, context),
        { parent: (name) => header(message.headers, name) },
      );
      const bytes = encodeBody<DescMessage>(route.output, (reply ?? {}) as MessageInitShape<DescMessage>);
      if (this.bus.claims.needed(bytes)) {
        const reference = await this.bus.claims.put(bytes, Math.max(1_000, deadlineMs - Date.now()), 'reply');
        this.respond(message, 'result', new Uint8Array(), reference);
      } else this.respond(message, 'result', bytes);
    } catch (error) {
      const fault = NightshiftError.from(error);
      outcome = fault.code === 'DEADLINE_EXCEEDED' ? 'expired' : fault.code === 'CANCELLED' ? 'cancelled' : 'error';
      if (fault.code === 'INTERNAL') this.bus.logger.error({ error: fault, route: route.name }, 'a handler failed');
      this.respondError(message, fault);
    } finally {
      clearTimeout(timer);
      this.open.delete(open);
      this.beating.delete(message);
      if (call !== undefined) this.longCalls.delete(call);
      this.count(route, outcome);
      this.metrics.histogram('bus_request_duration_seconds').observe({ route: route.name }, (performance.now() - started) / 1000);
    }
  }

  /** One timer for all long calls of this process: beats for each, and ends those whose caller fell silent. */
  private keepLongCallsAlive(): void {
    const { heartbeatMs, silenceMs } = this.bus.timings;
    this.bus.connection.subscribe(keepAliveSubject(this.service, '*'), {
      callback: (_error, message) => {
        const open = this.longCalls.get(lastToken(message.subject) ?? '');
        if (open === undefined) return;
        open.heard = Date.now();
        if (message.data.length > 0) open.abort.abort(new NightshiftError('CANCELLED', `${open.route.name}: the caller gave up`));
      },
    });
    // Silence while this process itself is cut off from the server proves nothing about the caller.
    this.beat = setInterval(() => {
      const now = Date.now();
      const cutOff = this.bus.fault() !== undefined;
      for (const [message, open] of this.beating) {
        if (cutOff) open.heard = now;
        else if (now - open.heard > silenceMs) {
          open.abort.abort(
            new NightshiftError('CANCELLED', `${open.route.name}: no sign of life of the caller for ${silenceMs} ms`),
          );
        } else this.respond(message, 'heartbeat', new Uint8Array());
      }
    }, heartbeatMs);
  }

  private respond(message: Msg, kind: 'heartbeat' | 'result' | 'error', body: Uint8Array, claimCheck?: string): void {
    const out = headers();
    out.set(headerNames.reply, kind);
    if (claimCheck !== undefined) out.set(headerNames.claimCheck, claimCheck);
    this.bus.outbox.push(() => {
      if (!this.bus.connection.isClosed()) message.respond(body, { headers: out });
    });
  }

  private respondError(message: Msg, error: NightshiftError): void {
    this.respond(message, 'error', encodeError(error));
  }

  private count(route: RequestRoute, outcome: Outcome): void {
    this.metrics.counter('bus_requests').inc({ route: route.name, outcome });
  }
}

function contextOf(
  route: RequestRoute,
  message: Msg,
  of: Pick<BusContext, 'team' | 'encoded' | 'deadlineMs' | 'signal'>,
): BusContext {
  const key = message.subject.slice(route.subject.length + 1);
  return { ...of, delivery: 1, redelivered: false, subject: message.subject, ...(key === '' ? {} : { key }) };
}
