import type { EventEmitter } from 'node:events';
import { Pool, types } from 'pg';
import type { CustomTypesConfig, PoolClient } from 'pg';
import { databaseFault } from './fault';

export interface PoolConfig {
  DATABASE_URL: string;
  /** Connections of this process; 8 unless set. */
  DATABASE_POOL_SIZE?: number;
}

const acquireTimeoutMs = 2_000;
const statementTimeoutMs = 30_000;
/** A transaction that a hung handler leaves open would hold its row locks for good. */
const idleInTransactionMs = 60_000;

/** bigint columns hold milliseconds, byte counts and sequence numbers: all far below 2^53. */
const int8Oid = 20;

function readInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint beyond 2^53 read from Postgres: ${text}`);
  return value;
}

/** Of this pool only: Prisma's adapter on the same pool brings its own readers. */
const poolTypes: CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === int8Oid && format !== 'binary' ? readInt8 : types.getTypeParser(oid, format)),
};

type Callback = (error: Error | undefined, client: PoolClient | undefined, done: (release?: unknown) => void) => void;

/** Told with what pg threw, before it is translated. */
export const faultEvent = 'nightshift-fault';

/** A pg pool whose promises reject with UNAVAILABLE when the server is away. */
class ServicePool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | void {
    if (callback) return super.connect(callback);
    return super.connect().catch((thrown: unknown) => fail(this, thrown));
  }
}

function fail(pool: Pool, thrown: unknown): never {
  (pool as EventEmitter).emit(faultEvent, thrown);
  throw databaseFault(thrown);
}

// pg types `query` with ten overloads; the translation is the same for all of them, so it is laid over the finished pool.
function translateFaults(pool: Pool): Pool {
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  const translated = (...args: unknown[]): unknown => {
    const result = query(...args);
    return result instanceof Promise ? result.catch((thrown: unknown) => fail(pool, thrown)) : result;
  };
  Object.defineProperty(pool, 'query', { value: translated });
  return pool;
}

/**
 * The pool of one process: at most DATABASE_POOL_SIZE (8) connections, 2 s to get one, 30 s per statement.
 * int8 columns are read as numbers.
 */
export function createPool(config: PoolConfig): Pool {
  const pool = new ServicePool({
    connectionString: config.DATABASE_URL,
    max: config.DATABASE_POOL_SIZE ?? 8,
    connectionTimeoutMillis: acquireTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    application_name: 'nightshift',
    types: poolTypes,
  });
  // An idle connection that the server closes (restart) is reported here; without a listener it ends the process.
  // The next query opens a new connection or fails with UNAVAILABLE, so there is nothing to do.
  pool.on('error', () => undefined);
  return translateFaults(pool);
}
