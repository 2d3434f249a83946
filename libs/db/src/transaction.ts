import type { Pool, PoolClient } from 'pg';
import { databaseFault } from './fault';

/**
 * Runs `work` in one transaction on one connection: committed when it resolves, rolled back when it throws.
 * Infrastructure faults are thrown as UNAVAILABLE; a commit whose answer got lost is one of them, so callers must be
 * able to run again (every write of ours is idempotent or fenced).
 */
export async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (thrown) {
    await client.query('rollback').catch((fault: unknown) => {
      broken = fault instanceof Error ? fault : new Error(String(fault));
    });
    throw databaseFault(thrown);
  } finally {
    // A connection that could not even roll back is destroyed, not given to the next caller inside a foreign transaction.
    client.release(broken);
  }
}
