import type { EventEmitter } from 'node:events';
import type { Metrics } from '@nightshift/metrics';
import type { Pool, PoolClient } from 'pg';
import { faultEvent } from './pool';

type AnyQuery = (...args: unknown[]) => unknown;
type Done = (...results: unknown[]) => void;

/** Reports connections, failures to get one in time, and the duration of every statement, those inside transactions too. */
export function watchPool(pool: Pool, metrics: Metrics): void {
  const connections = metrics.gauge('db_pool_connections');
  metrics.onScrape(() => {
    connections.set({ state: 'total' }, pool.totalCount);
    connections.set({ state: 'idle' }, pool.idleCount);
    connections.set({ state: 'waiting' }, pool.waitingCount);
  });
  const timeouts = metrics.counter('db_acquire_timeouts');
  (pool as EventEmitter).on(faultEvent, (thrown: unknown) => {
    if (thrown instanceof Error && thrown.message.includes('timeout exceeded when trying to connect')) timeouts.inc();
  });
  const durations = metrics.histogram('db_query_duration_seconds');
  const observe = (startedMs: number): void => durations.observe({}, (performance.now() - startedMs) / 1_000);
  pool.on('connect', (client) => timeStatements(client, observe));
}

/** pg calls back where the pool asks, and returns a promise where we do; a statement ends in one of the two. */
function timeStatements(client: PoolClient, observe: (startedMs: number) => void): void {
  const query = client.query.bind(client) as AnyQuery;
  const timed: AnyQuery = (...args) => {
    const startedMs = performance.now();
    const done = args.at(-1);
    if (typeof done === 'function') {
      args[args.length - 1] = (...results: unknown[]): void => {
        observe(startedMs);
        (done as Done)(...results);
      };
      return query(...args);
    }
    const result = query(...args);
    if (!(result instanceof Promise)) return result;
    return result.finally(() => observe(startedMs));
  };
  Object.defineProperty(client, 'query', { value: timed });
}
