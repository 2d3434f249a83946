import { randomUUID } from 'node:crypto';
import type { Pool } from '@nightshift/db';
import { createPool } from '@nightshift/db';
import { loadConfig } from '@nightshift/config';
import { Client } from 'pg';
import { z } from 'zod';
import { databaseUrl, templateDatabase } from './database-names';
import { realServerTimeoutMs } from './timeouts';

export interface TestDatabase {
  /** Valid inside tests and hooks. */
  readonly url: string;
  readonly pool: Pool;
}

async function administer(statement: string): Promise<string> {
  const { TEST_POSTGRES_URL } = loadConfig({ TEST_POSTGRES_URL: z.string({ error: 'run this spec as *.int.spec.ts' }) });
  const client = new Client({ connectionString: TEST_POSTGRES_URL });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
  return TEST_POSTGRES_URL;
}

/** Gives a spec file a database of its own, migrated, on the Postgres of the run; dropped when the file is done. */
export function withDatabase(): TestDatabase {
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  let url: string | undefined;
  let pool: Pool | undefined;
  jest.setTimeout(realServerTimeoutMs);
  beforeAll(async () => {
    url = databaseUrl(await administer(`create database ${name} template ${templateDatabase}`), name);
    pool = createPool({ DATABASE_URL: url });
  });
  afterAll(async () => {
    await pool?.end();
    await administer(`drop database if exists ${name} with (force)`);
  });
  const ready = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('withDatabase(): used before beforeAll has run');
    return value;
  };
  return {
    get url() {
      return ready(url);
    },
    get pool() {
      return ready(pool);
    },
  };
}
