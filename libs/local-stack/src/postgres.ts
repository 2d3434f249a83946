import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { Client } from 'pg';
import { startChild, untilReady } from './child';
import type { Child } from './child';
import { freePort, loopback, refuseTakenPort } from './ports';
import { findPostgresBinaries } from './postgres-binaries';
import { rootWrapper } from './root-wrapper';
import type { RunAs } from './root-wrapper';

export interface PostgresOptions {
  /** Created at first start (initdb, 0.6 s), continued on afterwards. */
  dataDir: string;
  /** A free one when absent. */
  port?: number;
  /** False turns off every flush to disk: for tests, whose data nobody needs after a power cut. */
  durable?: boolean;
  maxConnections?: number;
  onLine?: (line: string) => void;
}

export interface RunningPostgres {
  /** Of database `nightshift`; holds the generated password. */
  url: string;
  port: number;
  pid: number;
  exited: Child['exited'];
  signal: Child['signal'];
  stop(): Promise<void>;
}

const user = 'nightshift';
const readyTimeoutMs = 20_000;
const attemptsOnFreePort = 3;
const withoutFlush = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0'];

function initialise(initdb: string, dataDir: string, passwordFile: string, runAs: RunAs): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, randomBytes(18).toString('hex'), { mode: 0o600 });
  if (runAs.uid !== undefined && runAs.gid !== undefined) {
    chownSync(dataDir, runAs.uid, runAs.gid);
    chownSync(passwordFile, runAs.uid, runAs.gid);
  }
  const [command = initdb, ...args] = [
    ...runAs.prefix,
    initdb,
    ...['-D', dataDir, '-U', user, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
    ...['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions'],
  ];
  const done = spawnSync(command, args, { encoding: 'utf8', uid: runAs.uid, gid: runAs.gid, cwd: dataDir });
  if (done.status === 0) return;
  rmSync(dataDir, { recursive: true, force: true });
  throw new NightshiftError('FAILED_PRECONDITION', `initdb failed: ${done.error?.message ?? `${done.stdout}${done.stderr}`}`);
}

async function accepts(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    // Not up yet; the caller's deadline and the process' end bound the polling.
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function createDatabase(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const found = await client.query('select 1 from pg_database where datname = $1', [user]);
    if (found.rowCount === 0) await client.query(`create database ${user}`);
  } finally {
    await client.end();
  }
}

async function launch(options: PostgresOptions, port: number, password: string, runAs: RunAs): Promise<RunningPostgres> {
  const settings = [
    `listen_addresses=${loopback}`,
    'unix_socket_directories=',
    `max_connections=${options.maxConnections ?? 200}`,
    'shared_buffers=128MB',
    'logging_collector=off',
    ...(options.durable === false ? withoutFlush : []),
  ];
  const [command = '', ...args] = [
    ...runAs.prefix,
    findPostgresBinaries().postgres,
    ...['-D', options.dataDir, '-p', String(port)],
    ...settings.flatMap((setting) => ['-c', setting]),
  ];
  const child = await startChild({ command, args, stopSignal: 'INT', onLine: options.onLine, uid: runAs.uid, gid: runAs.gid });
  const urlOf = (database: string): string => `postgresql://${user}:${password}@${loopback}:${port}/${database}`;
  try {
    await untilReady(child, 'Postgres', readyTimeoutMs, () => accepts(urlOf('postgres')));
    await createDatabase(urlOf('postgres'));
  } catch (thrown) {
    await child.stop();
    throw thrown;
  }
  return {
    url: urlOf(user),
    port,
    pid: child.pid,
    exited: child.exited,
    signal: child.signal,
    stop: async () => {
      await child.stop(20_000);
    },
  };
}

/**
 * Starts Postgres from the npm binaries on loopback, with a generated password kept beside the data (0600). Works as
 * root, which Postgres itself refuses.
 * @throws FAILED_PRECONDITION when there are no binaries, the port is taken or the data belong to a running server.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const binaries = findPostgresBinaries();
  const dataDir = path.resolve(options.dataDir);
  const passwordFile = `${dataDir}.password`;
  const runAs = rootWrapper();
  if (options.port !== undefined) await refuseTakenPort(options.port, 'Postgres');
  if (!existsSync(path.join(dataDir, 'PG_VERSION'))) initialise(binaries.initdb, dataDir, passwordFile, runAs);
  const password = readFileSync(passwordFile, 'utf8').trim();
  if (options.port !== undefined) return launch({ ...options, dataDir }, options.port, password, runAs);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch({ ...options, dataDir }, await freePort(), password, runAs);
    } catch (thrown) {
      // Somebody took the port between the look and the start.
      const raced = thrown instanceof Error && thrown.message.includes('could not bind');
      if (!raced || attempt >= attemptsOnFreePort) throw thrown;
    }
  }
}
