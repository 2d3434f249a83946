import { createInbox, nuid, type Msg, type NatsConnection, type Subscription } from 'nats';
import { headerNames, NightshiftError, type RequestRoute } from '@nightshift/contracts';
import { abortReason, decodeError } from '../wire/bodies';
import { header, outgoingHeaders, type Outgoing } from '../wire/headers';
import { fromNats } from '../wire/nats-errors';
import type { Outbox } from '../wire/outbox';
import { goneBody, keepAliveSubject, timerMs, type BusTimings } from './timings';

export interface Call {
  route: RequestRoute;
  subject: string;
  body: Uint8Array;
  outgoing: Outgoing & { deadlineAt: number };
  signal?: AbortSignal;
}

type Listener = (message: Msg) => void;

/** Sends requests and sorts the replies: one inbox subscription for all of them. */
export class Caller {
  private readonly base: string;
  private readonly inbox: Subscription;
  private readonly waiting = new Map<string, Listener>();
  private readonly failures = new Map<string, (error: NightshiftError) => void>();
  private next = 0;

  constructor(
    private readonly connection: NatsConnection,
    private readonly timings: BusTimings,
    private readonly outbox: Outbox,
    prefix: string,
  ) {
    this.base = `${createInbox(prefix)}.`;
    this.inbox = connection.subscribe(`${this.base}*`, {
      callback: (_error, message) => this.waiting.get(message.subject.slice(this.base.length))?.(message),
    });
  }

  /** One reply, as raw message; throws what the other side threw, or UNAVAILABLE, DEADLINE_EXCEEDED, or the signal's reason. */
  call(call: Call): Promise<Msg> {
    return new Promise((resolve, reject) => {
      if (call.signal?.aborted) return reject(abortReason(call.signal));
      const { route, outgoing } = call;
      const remaining = outgoing.deadlineAt - Date.now();
      if (remaining <= 0)
        return reject(new NightshiftError('DEADLINE_EXCEEDED', `${route.name}: the deadline had passed before it was sent`));
      const token = (this.next++).toString(36);
      const keepAlive = route.long ? keepAliveSubject(route.owner, nuid.next()) : undefined;
      let silence: NodeJS.Timeout | undefined;
      let alive: NodeJS.Timeout | undefined;

      const end = (): void => {
        this.waiting.delete(token);
        this.failures.delete(token);
        clearTimeout(deadline);
        clearTimeout(silence);
        clearInterval(alive);
        call.signal?.removeEventListener('abort', onAbort);
      };
      const fail = (error: NightshiftError): void => {
        end();
        reject(error);
      };
      const giveUp = (error: NightshiftError): void => {
        fail(error);
        if (keepAlive !== undefined) this.outbox.push(() => this.unlessClosed(keepAlive, goneBody));
      };
      const onAbort = (): void => giveUp(abortReason(call.signal!));
      const deadline = setTimeout(
        () => giveUp(new NightshiftError('DEADLINE_EXCEEDED', `${route.name}: no answer within ${Math.round(remaining)} ms`)),
        timerMs(remaining),
      );
      call.signal?.addEventListener('abort', onAbort, { once: true });
      this.failures.set(token, giveUp);
      this.waiting.set(token, (message) => {
        if (message.headers?.code === 503 && message.data.length === 0) {
          return fail(
            new NightshiftError('UNAVAILABLE', `${route.name}: nobody answers ${call.subject}`, { retryAfterMs: 1_000 }),
          );
        }
        const kind = header(message.headers, headerNames.reply);
        if (kind === 'heartbeat') return void silence?.refresh();
        end();
        if (kind === 'error') reject(decodeError(message.data));
        else resolve(message);
      });
      if (keepAlive !== undefined) {
        silence = setTimeout(
          () => giveUp(new NightshiftError('UNAVAILABLE', `${route.name}: no sign of life for ${this.timings.silenceMs} ms`)),
          this.timings.silenceMs,
        );
        alive = setInterval(() => this.unlessClosed(keepAlive), this.timings.heartbeatMs);
      }
      const attempt = (send: () => void): void => {
        try {
          send();
        } catch (error) {
          fail(fromNats(error, route.name));
        }
      };
      attempt(() => {
        // Now, in the caller's own trace; what is sent later runs in anybody's.
        const headers = outgoingHeaders(keepAlive === undefined ? outgoing : { ...outgoing, keepAlive });
        // Given up within the turn it was made in: nobody waits.
        const send = (): void => {
          if (this.waiting.has(token)) this.connection.publish(call.subject, call.body, { reply: this.base + token, headers });
        };
        this.outbox.push(() => attempt(send));
      });
    });
  }

  /** Every result that comes within `waitMs`, or until `expect` came. Errors of single parties are handed to `onError`. */
  gather(call: Call, waitMs: number, expect: number, onError: (error: NightshiftError) => void): Promise<Msg[]> {
    return new Promise((resolve, reject) => {
      const token = (this.next++).toString(36);
      const replies: Msg[] = [];
      const end = (): void => {
        clearTimeout(timer);
        this.waiting.delete(token);
        resolve(replies);
      };
      const timer = setTimeout(end, timerMs(waitMs));
      this.waiting.set(token, (message) => {
        if (message.headers?.code === 503 && message.data.length === 0) return end();
        if (header(message.headers, headerNames.reply) === 'error') return onError(decodeError(message.data));
        replies.push(message);
        if (replies.length >= expect) end();
      });
      try {
        this.connection.publish(call.subject, call.body, { reply: this.base + token, headers: outgoingHeaders(call.outgoing) });
      } catch (error) {
        clearTimeout(timer);
        this.waiting.delete(token);
        reject(fromNats(error, call.route.name));
      }
    });
  }

  private unlessClosed(subject: string, body?: Uint8Array): void {
    if (!this.connection.isClosed()) this.connection.publish(subject, body);
  }

  /** Requests in flight end with UNAVAILABLE. */
  close(): void {
    for (const fail of [...this.failures.values()]) fail(new NightshiftError('UNAVAILABLE', 'this process shuts down'));
    this.inbox.unsubscribe();
  }
}
