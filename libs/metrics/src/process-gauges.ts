import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './create-metrics';

/** Gauges of the process itself, read at each scrape. The delay's histogram starts anew with every scrape. */
export function watchProcess(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  let counted = 0;
  const lag = metrics.gauge('event_loop_lag_seconds');
  const cpu = metrics.counter('cpu_seconds');
  metrics.onScrape(() => {
    const seconds = (nanoseconds: number): number => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0);
    lag.set({ at: 'p50' }, seconds(delay.percentile(50)));
    lag.set({ at: 'p99' }, seconds(delay.percentile(99)));
    lag.set({ at: 'max' }, seconds(delay.max));
    delay.reset();
    const memory = process.memoryUsage();
    metrics.gauge('heap_used_bytes').set({}, memory.heapUsed);
    metrics.gauge('resident_memory_bytes').set({}, memory.rss);
    const usage = process.cpuUsage();
    const total = (usage.user + usage.system) / 1e6;
    cpu.inc({}, total - counted);
    counted = total;
  });
}
