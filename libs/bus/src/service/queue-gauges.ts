import type { Bus } from '../bus';
import { consumerName, streamName, streamRoutesOf } from '../topology/plan';

/**
 * Depth, age and workers of the queues this service works on or fills, asked from the server at each scrape. Senders report
 * too: a queue whose every worker is gone (the compactor scaled to zero) would otherwise vanish from sight when it matters.
 */
export function watchQueues(bus: Bus, service: string): void {
  const queues = streamRoutesOf(service).filter((route) => route.delivery === 'command' && route.key === 'none');
  if (queues.length === 0) return;
  const pending = bus.metrics.gauge('queue_pending');
  const inFlight = bus.metrics.gauge('queue_in_flight');
  const oldest = bus.metrics.gauge('queue_oldest_seconds');
  const waitingPulls = bus.metrics.gauge('queue_waiting_pulls');
  bus.metrics.onScrape(async () => {
    if (bus.fault() !== undefined) return;
    await Promise.allSettled(
      queues.map(async (route) => {
        const labels = { route: route.name };
        const info = await bus.manager.consumers.info(streamName(route), consumerName(route.owner));
        pending.set(labels, info.num_pending);
        inFlight.set(labels, info.num_ack_pending);
        waitingPulls.set(labels, info.num_waiting);
        const { state } = await bus.manager.streams.info(streamName(route));
        const filled = state.messages > 0 && info.num_pending + info.num_ack_pending > 0;
        oldest.set(labels, filled ? Math.max(0, (Date.now() - Date.parse(String(state.first_ts))) / 1000) : 0);
      }),
    );
  });
}
