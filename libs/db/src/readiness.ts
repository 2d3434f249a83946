import type { Pool } from 'pg';
import { migrationsOnDisk } from './migrate';

/** The newest migration that this code knows, for display. */
export function expectedMigration(): string {
  return migrationsOnDisk().at(-1)?.name ?? 'none';
}

/**
 * Readiness check: undefined when Postgres answers and holds every migration of this code; a database that is ahead is
 * fine, since migrations only ever add first. The text says what to do.
 */
export function schemaReady(pool: Pool): () => Promise<string | undefined> {
  const expected = migrationsOnDisk().map((migration) => migration.name);
  return async () => {
    try {
      const found = await pool.query<{ migration_name: string }>(
        'select migration_name from _prisma_migrations where finished_at is not null and rolled_back_at is null',
      );
      const applied = new Set(found.rows.map((row) => row.migration_name));
      const missing = expected.filter((name) => !applied.has(name));
      return missing.length ? `database lacks migrations ${missing.join(', ')}: run the migrate command` : undefined;
    } catch (thrown) {
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      return text.includes('_prisma_migrations') ? 'database is empty: run the migrate command' : `database: ${text}`;
    }
  };
}
