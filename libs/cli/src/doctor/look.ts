import { inspectNats } from '@nightshift/bus';
import { NightshiftError } from '@nightshift/contracts';
import { createPool, schemaReady } from '@nightshift/db';
import type { Api } from '../client/api';
import type { DeadLetterJson, ModelsJson, ProvidersJson } from '../client/shapes';
import type { DatabaseState, Facts, Seen } from './findings';

export interface Places {
  nats: { url: string; user?: string; password?: string; caFile?: string };
  ackWaitMs: number;
  databaseUrl: string;
  slots: number;
}

/** Asks every part once and at the same time, and changes nothing. What does not answer is a fact too. */
export async function look(api: () => Api, places: Places): Promise<Facts> {
  const [nats, database, models, providers, deadLetters, apiAheadMs] = await Promise.all([
    seen(() => inspectNats(places.nats, places.ackWaitMs)),
    seen(() => databaseState(places.databaseUrl)),
    seen(() => api().get<ModelsJson>('/v1/models')),
    seen(() => api().get<ProvidersJson>('/v1/providers')),
    seen(async () => {
      const query = { state: 'waiting' };
      return (await api().get<{ deadLetters: DeadLetterJson[] }>('/v1/dead-letters', { query })).deadLetters.length;
    }),
    seen(() => apiAhead(api().url)),
  ]);
  return {
    nats,
    database,
    models,
    providers,
    deadLetters,
    ...('value' in apiAheadMs && apiAheadMs.value !== undefined ? { apiAheadMs: apiAheadMs.value } : {}),
    nowMs: Date.now(),
    slots: places.slots,
  };
}

async function seen<T>(ask: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { value: await ask() };
  } catch (thrown) {
    return { fault: NightshiftError.from(thrown).text };
  }
}

async function databaseState(url: string): Promise<DatabaseState> {
  const pool = createPool({ DATABASE_URL: url, DATABASE_POOL_SIZE: 1 });
  try {
    const fault = await schemaReady(pool)();
    const askedAt = Date.now();
    const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
    const aheadMs = rows[0] ? rows[0].now.getTime() - (askedAt + Date.now()) / 2 : 0;
    if (fault) return { fault, aheadMs, runners: [] };
    const found = await pool.query<{ id: string; sandboxed: boolean; sandbox_reason: string }>(
      'select id, sandboxed, sandbox_reason from runners where lease_until > now() order by id',
    );
    return {
      aheadMs,
      runners: found.rows.map(({ id, sandboxed, sandbox_reason }) => ({ id, sandboxed, reason: sandbox_reason })),
    };
  } finally {
    await pool.end();
  }
}

/** By the Date header of any answer, which has no fractions: half a second is added. */
async function apiAhead(url: string): Promise<number | undefined> {
  const askedAt = Date.now();
  const date = (await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(5_000) })).headers.get('date');
  return date ? Date.parse(date) + 500 - (askedAt + Date.now()) / 2 : undefined;
}
