import type { DescMessage } from '@bufbuild/protobuf';
import { DeliverPolicy, type Msg } from 'nats';
import { headerNames, type EventRoute, type LiveRoute, type Route } from '@nightshift/contracts';
import type { Bus } from '../bus';
import type { BusContext } from '../context';
import type { EventSubscription, MessageListener, Stop } from '../options';
import { streamName } from '../topology/plan';
import { decodeBody } from '../wire/bodies';
import { header } from '../wire/headers';

function contextOf(message: Pick<Msg, 'subject' | 'headers' | 'data'>, route: Route): BusContext {
  const key = message.subject.slice(route.subject.length + 1);
  return {
    team: header(message.headers, headerNames.team) ?? '',
    signal: new AbortController().signal,
    deadlineMs: Infinity,
    delivery: 1,
    redelivered: false,
    subject: message.subject,
    encoded: message.data,
    ...(key === '' ? {} : { key }),
  };
}

/** A listener that throws loses this message only; nobody else depends on it. */
function hand<I extends DescMessage>(
  bus: Bus,
  route: Route & { input: I },
  message: Pick<Msg, 'subject' | 'headers' | 'data'>,
  onMessage: MessageListener<I>,
): void {
  const work = async (): Promise<void> => onMessage(decodeBody(route.input, message.data), contextOf(message, route));
  work().catch((error: unknown) => bus.logger.error({ error, route: route.name }, 'a listener failed'));
}

export function subscribeLive<I extends DescMessage>(
  bus: Bus,
  route: LiveRoute<I>,
  subject: string,
  onMessage: MessageListener<I>,
): Stop {
  const subscription = bus.connection.subscribe(subject, {
    callback: (error, message) => {
      if (error) bus.logger.error({ error, route: route.name }, 'a live subscription failed');
      else hand(bus, route, message, onMessage);
    },
  });
  return () => subscription.unsubscribe();
}

/** An ordered consumer: no acknowledgements, rebuilt by the client where it left off, gone with this process. */
export function subscribeEvents<I extends DescMessage>(
  bus: Bus,
  route: EventRoute<I>,
  onMessage: MessageListener<I>,
): EventSubscription {
  let stopped = false;
  let stands!: () => void;
  const ready = new Promise<void>((resolve) => (stands = resolve));
  let end: () => void = () => undefined;
  async function once(): Promise<void> {
    const consumer = await bus.stream.consumers.get(streamName(route), {
      deliver_policy: DeliverPolicy.New,
      filterSubjects: route.subject,
    });
    const messages = await consumer.consume();
    end = () => messages.stop();
    // The consumer exists; its first pull is only about what it already collects.
    stands();
    if (stopped) return messages.stop();
    for await (const message of messages) hand(bus, route, message, onMessage);
  }
  async function forEver(): Promise<void> {
    while (!stopped && !bus.connection.isClosed()) {
      try {
        await once();
      } catch (error) {
        if (!stopped) bus.logger.warn({ error, route: route.name }, 'an event subscription ended');
      }
      if (stopped) return;
      bus.metrics.counter('bus_consume_loops_rebuilt').inc({ route: route.name });
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  void forEver();
  const stop = (): void => {
    stopped = true;
    end();
  };
  return Object.assign(stop, { ready });
}
