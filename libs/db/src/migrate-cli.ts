import { databaseSettings, loadConfig } from '@nightshift/config';
import { migrate } from './migrate';

/** `node libs/db/dist/migrate-cli.js`: applies the missing migrations to DATABASE_URL and names them. */
async function main(): Promise<void> {
  const { DATABASE_URL } = loadConfig({ DATABASE_URL: databaseSettings.DATABASE_URL });
  const applied = await migrate(DATABASE_URL);
  process.stdout.write(applied.length ? `applied ${applied.join(', ')}\n` : 'nothing to apply\n');
}

main().catch((thrown: unknown) => {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
});
