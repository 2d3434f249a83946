import type { Bus } from '../bus';
import type { Worker } from '../commands/worker';

/** Depth and age of the queues this process works on, asked from the server at each scrape. */
export function watchQueues(bus: Bus, workers: readonly Worker[]): void {
  if (workers.length === 0) return;
  const pending = bus.metrics.gauge('queue_pending');
  const inFlight = bus.metrics.gauge('queue_in_flight');
  const oldest = bus.metrics.gauge('queue_oldest_seconds');
  bus.metrics.onScrape(async () => {
    if (bus.fault() !== undefined) return;
    await Promise.allSettled(
      workers.map(async (worker) => {
        const { stream, consumer } = worker.source;
        const info = await bus.manager.consumers.info(stream, consumer);
        pending.set({ route: worker.routeName }, info.num_pending);
        inFlight.set({ route: worker.routeName }, info.num_ack_pending);
        const { state } = await bus.manager.streams.info(stream);
        const waiting = state.messages > 0 && info.num_pending + info.num_ack_pending > 0;
        oldest.set(
          { route: worker.routeName },
          waiting ? Math.max(0, (Date.now() - Date.parse(String(state.first_ts))) / 1000) : 0,
        );
      }),
    );
  });
}
