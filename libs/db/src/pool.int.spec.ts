import { withDatabase } from '@nightshift/testing';
import { createMetrics } from '@nightshift/metrics';
import { createPool } from './pool';
import { watchPool } from './pool-metrics';
import { transaction } from './transaction';

const database = withDatabase();

describe('createPool', () => {
  it('reports an absent server as UNAVAILABLE, from query, connect and transaction alike', async () => {
    const pool = createPool({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' });
    const faults = await Promise.allSettled([
      pool.query('select 1'),
      pool.connect(),
      transaction(pool, async (client) => client.query('select 1')),
    ]);
    expect(faults.map((fault) => fault.status === 'rejected' && fault.reason.code)).toEqual([
      'UNAVAILABLE',
      'UNAVAILABLE',
      'UNAVAILABLE',
    ]);
    await pool.end();
  });

  it('goes on after the server closed its connections', async () => {
    await database.pool.query('select 1');
    await database.pool
      .query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      .catch(() => undefined);
    expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  it('counts statements, connections and failures to get one in time', async () => {
    const metrics = createMetrics('test');
    const pool = createPool({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 1 });
    watchPool(pool, metrics);
    await pool.query('select 1');
    await transaction(pool, (client) => client.query('select 2'));
    const held = await pool.connect();
    await expect(pool.query('select 3')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const text = await metrics.text();
    held.release();
    await pool.end();
    // select, begin, select, commit
    expect(text).toMatch(/nightshift_db_query_duration_seconds_count 4/);
    expect(text).toMatch(/nightshift_db_acquire_timeouts_total 1/);
    expect(text).toMatch(/nightshift_db_pool_connections\{state="total"\} 1/);
  });

  it('passes a wrong statement on as it was thrown', async () => {
    await expect(database.pool.query('select broken')).rejects.toMatchObject({ code: '42703' });
  });

  it('reads bigint as number and refuses what a number cannot hold', async () => {
    expect((await database.pool.query('select 1767225600000::bigint as ms')).rows).toEqual([{ ms: 1767225600000 }]);
    await expect(database.pool.query('select 9007199254740993::bigint as ms')).rejects.toThrow('beyond 2^53');
  });
});

describe('transaction', () => {
  it('rolls back when the work throws, and the connection is clean afterwards', async () => {
    await database.pool.query('create table kept (id int)');
    const failing = transaction(database.pool, async (client) => {
      await client.query('insert into kept values (1)');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await transaction(database.pool, (client) => client.query('insert into kept values (2)'));
    expect((await database.pool.query('select id from kept')).rows).toEqual([{ id: 2 }]);
  });
});
