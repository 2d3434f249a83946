import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Module } from '@nestjs/common';
import { startNats, startPostgres, type RunningNats, type RunningPostgres } from '@nightshift/local-stack';
import { startServiceModule } from '@nightshift/testing';
import { Client } from 'pg';

@Module({})
class Empty {}

const run = (script: string, ...args: string[]) =>
  spawnSync(process.execPath, [path.join(__dirname, script), ...args], { encoding: 'utf8' });

describe('backup and restore of the embedded installation', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-backup-'));
  const stateDir = path.join(folder, 'state');
  const file = path.join(folder, 'backups/monday.tar.gz');
  let nats: RunningNats | undefined;
  let postgres: RunningPostgres | undefined;

  const start = async (): Promise<void> => {
    [nats, postgres] = await Promise.all([
      startNats({ dataDir: path.join(stateDir, 'nats') }),
      startPostgres({ dataDir: path.join(stateDir, 'postgres') }),
    ]);
  };
  const stop = async (): Promise<void> => {
    await Promise.all([nats?.stop(), postgres?.stop()]);
  };
  const sql = async (text: string): Promise<unknown[]> => {
    const client = new Client({ connectionString: postgres?.url });
    await client.connect();
    try {
      return (await client.query(text)).rows as unknown[];
    } finally {
      await client.end();
    }
  };
  const bucket = async (put?: string): Promise<string | undefined> => {
    const service = await startServiceModule({ service: 'model-registry', module: Empty, natsUrl: nats!.url, partial: true });
    try {
      const kv = await service.bus.kv('windows');
      if (put !== undefined) await kv.put('a', put);
      const found = await kv.get('a');
      return found && Buffer.from(found.value).toString();
    } finally {
      await service.stop();
    }
  };

  beforeAll(async () => {
    mkdirSync(path.join(stateDir, 'logs'), { recursive: true });
    writeFileSync(path.join(stateDir, 'key'), 'nsk_secret', { mode: 0o600 });
    await start();
    await sql(`create table notes (text text)`);
    await sql(`insert into notes values ('before')`);
    await bucket('before');
  });
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('refuses while the database runs', () => {
    expect(run('backup.mjs', file, '--state-dir', stateDir)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('stop it first'),
    });
    expect(existsSync(file)).toBe(false);
  });

  it('copies database, queues and keys, readable by the owner only, and overwrites no older backup', async () => {
    await stop();
    const { status, stdout, stderr } = run('backup.mjs', file, '--state-dir', stateDir);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('key, nats, postgres, postgres.password');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(path.dirname(file)).sort()).toEqual(['monday.tar.gz', 'monday.tar.gz.sha256']);
    expect(run('backup.mjs', file, '--state-dir', stateDir).stderr).toContain('choose another name');
  });

  it('brings all of it back, and keeps aside what it replaces', async () => {
    await start();
    await sql(`update notes set text = 'after'`);
    await bucket('after');
    expect(run('restore.mjs', file, '--state-dir', stateDir).status).toBe(1);
    await stop();
    const { status, stderr } = run('restore.mjs', file, '--state-dir', stateDir);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    await start();
    expect(await sql('select text from notes')).toEqual([{ text: 'before' }]);
    expect(await bucket()).toBe('before');
    expect(readFileSync(path.join(stateDir, 'key'), 'utf8')).toBe('nsk_secret');
    const aside = readdirSync(folder).filter((name) => name.startsWith('state.before-'));
    expect(aside).toHaveLength(1);
    expect(existsSync(path.join(folder, aside[0] ?? '', 'postgres/PG_VERSION'))).toBe(true);
    await stop();
  });

  it('refuses a damaged file and leaves the data as they are', () => {
    appendFileSync(file, 'x');
    const { status, stderr } = run('restore.mjs', file, '--state-dir', stateDir);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('it is damaged') });
    expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([]);
    expect(existsSync(path.join(stateDir, 'postgres/PG_VERSION'))).toBe(true);
  });
});
