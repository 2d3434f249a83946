import type { Metrics } from '@nightshift/metrics';
import type { Pool } from 'pg';

/** Reports the pool's connections at each scrape. */
export function watchPool(pool: Pool, metrics: Metrics): void {
  const connections = metrics.gauge('db_pool_connections');
  metrics.onScrape(() => {
    connections.set({ state: 'total' }, pool.totalCount);
    connections.set({ state: 'idle' }, pool.idleCount);
    connections.set({ state: 'waiting' }, pool.waitingCount);
  });
}
