import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate } from '@nightshift/db';
import { startPostgres } from '@nightshift/local-stack';
import { Client } from 'pg';
import { databaseUrl, templateDatabase } from './database-names';

export interface RunServers {
  /** Of an administrator, database `postgres`. */
  postgresUrl: string;
  stop(): Promise<void>;
}

/** Starts the Postgres of one test run with a migrated template database; each spec copies the template. */
export async function startRunServers(): Promise<RunServers> {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-test-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), durable: false, maxConnections: 300 });
    const postgresUrl = databaseUrl(postgres.url, 'postgres');
    const client = new Client({ connectionString: postgresUrl });
    await client.connect();
    await client.query(`create database ${templateDatabase}`);
    await client.end();
    await migrate(databaseUrl(postgres.url, templateDatabase));
    return {
      postgresUrl,
      async stop() {
        await postgres.stop();
        remove();
      },
    };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}
