import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { Client } from 'pg';

/** The lock that Prisma's own engine takes, so that both can be used against one database. */
const prismaLock = 72707369;

const bookkeeping = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz,
  migration_name varchar(255) not null, logs text, rolled_back_at timestamptz,
  started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`;

export interface Migration {
  name: string;
  sql: string;
  /** sha-256 of the file, as Prisma records it. */
  checksum: string;
}

interface AppliedRow {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  rolled_back_at: Date | null;
}

/** prisma/migrations of this checkout; the same relative place from src and from dist. */
export const migrationsDirectory = path.resolve(__dirname, '../../../prisma/migrations');

/** Every migration on disk, in the order in which they are applied. */
export function migrationsOnDisk(directory = migrationsDirectory): Migration[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const bytes = readFileSync(path.join(directory, name, 'migration.sql'));
      return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') };
    });
}

/**
 * What is still to be applied, given the rows of `_prisma_migrations`.
 * @throws FAILED_PRECONDITION when an earlier migration failed or an applied file was edited since.
 */
export function pendingMigrations(onDisk: readonly Migration[], applied: readonly AppliedRow[]): Migration[] {
  const failed = applied.find((row) => !row.finished_at && !row.rolled_back_at);
  if (failed) {
    throw new NightshiftError(
      'FAILED_PRECONDITION',
      `migration ${failed.migration_name} failed before; repair the database, then delete its row in _prisma_migrations`,
    );
  }
  const done = new Map(applied.filter((row) => row.finished_at && !row.rolled_back_at).map((row) => [row.migration_name, row]));
  return onDisk.filter((migration) => {
    const row = done.get(migration.name);
    if (row && row.checksum !== migration.checksum) {
      throw new NightshiftError('FAILED_PRECONDITION', `migration ${migration.name} was edited after it had been applied`);
    }
    return !row;
  });
}

async function apply(client: Client, migration: Migration): Promise<void> {
  const id = randomUUID();
  await client.query('insert into _prisma_migrations (id, checksum, migration_name) values ($1, $2, $3)', [
    id,
    migration.checksum,
    migration.name,
  ]);
  try {
    // One simple query is one implicit transaction: a migration is applied whole or not at all.
    await client.query(migration.sql);
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    await client.query('update _prisma_migrations set logs = $2 where id = $1', [id, text]);
    throw new NightshiftError('FAILED_PRECONDITION', `migration ${migration.name}: ${text}`, { cause: thrown });
  }
  await client.query('update _prisma_migrations set finished_at = now(), applied_steps_count = 1 where id = $1', [id]);
}

/**
 * Applies what is missing, under Prisma's own lock: any number of callers at once apply each migration once.
 * @returns the names of the migrations that this call applied
 */
export async function migrate(url: string, directory = migrationsDirectory): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [prismaLock]);
    await client.query(bookkeeping);
    const applied = await client.query<AppliedRow>(
      'select migration_name, checksum, finished_at, rolled_back_at from _prisma_migrations',
    );
    const pending = pendingMigrations(migrationsOnDisk(directory), applied.rows);
    for (const migration of pending) await apply(client, migration);
    return pending.map((migration) => migration.name);
  } finally {
    await client.end();
  }
}
