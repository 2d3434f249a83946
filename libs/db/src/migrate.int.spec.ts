import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { withDatabase } from '@nightshift/testing';
import { migrate } from './migrate';
import { schemaReady } from './readiness';

const database = withDatabase();

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-migrations-'));
  for (const [name, sql] of Object.entries(files)) {
    mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, name, 'migration.sql'), sql);
  }
  return folder;
}

// The bookkeeping of the template knows the real migrations; each case below adds names of its own.
describe('migrate', () => {
  it('applies a migration once, however many callers come at the same time', async () => {
    const folder = folderWith({ '9_race': 'create table race (id int)' });
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url, folder)));
    expect(applied.flat()).toEqual(['9_race']);
  });

  it('refuses a file that was edited after it had been applied', async () => {
    await migrate(database.url, folderWith({ '9_edited': 'create table edited (id int)' }));
    await expect(migrate(database.url, folderWith({ '9_edited': 'create table edited (id bigint)' }))).rejects.toThrow(
      'FAILED_PRECONDITION: migration 9_edited was edited after it had been applied',
    );
  });

  it('applies nothing of a migration that fails, and refuses to go on until it is repaired', async () => {
    const folder = folderWith({ '9_half': 'create table half (id int); select broken' });
    await expect(migrate(database.url, folder)).rejects.toThrow('FAILED_PRECONDITION: migration 9_half: column "broken"');
    expect((await database.pool.query("select to_regclass('half') as found")).rows).toEqual([{ found: null }]);
    await expect(migrate(database.url, folder)).rejects.toThrow('migration 9_half failed before');
    await database.pool.query("delete from _prisma_migrations where migration_name = '9_half'");
  });
});

describe('schemaReady', () => {
  it('names the migrations that the database lacks', async () => {
    expect(await schemaReady(database.pool)()).toBeUndefined();
    await database.pool.query("delete from _prisma_migrations where migration_name like '20%'");
    expect(await schemaReady(database.pool)()).toMatch(/^database lacks migrations 20\w+.*: run the migrate command$/);
  });
});
