import { withDatabase } from '@nightshift/testing';
import { createPool } from './pool';
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
