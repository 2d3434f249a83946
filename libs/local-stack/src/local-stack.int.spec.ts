import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { eventually } from '@nightshift/testing';
import { startChild } from './child';
import { startNats } from './nats-server';
import { freePort } from './ports';
import { startPostgres } from './postgres';
import { supervise } from './supervisor';

jest.setTimeout(60_000);
const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-local-'));
const testing = path.resolve(__dirname, '../../testing/src');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function script(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** A process that has ended but is not reaped (no init in a container) does not run any more. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux';
  }
}

async function ask<T>(url: string, sql: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as T[];
  } finally {
    await client.end();
  }
}

describe('startPostgres', () => {
  it('goes on with the same data and password after a stop, and listens on loopback only', async () => {
    const dataDir = path.join(folder, 'pg');
    const first = await startPostgres({ dataDir, durable: false });
    await ask(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await startPostgres({ dataDir, durable: false, port: first.port });
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await ask(second.url, 'show listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }]);
    expect(statSync(`${dataDir}.password`).mode & 0o777).toBe(0o600);
    await second.stop();
    expect(runs(second.pid)).toBe(false);
  });

  it('keeps what was committed when it is killed', async () => {
    const dataDir = path.join(folder, 'pg-killed');
    const first = await startPostgres({ dataDir });
    await ask(first.url, 'create table kept as select 1 as one');
    first.signal('SIGKILL');
    await first.exited;
    const second = await eventually(() => startPostgres({ dataDir, port: first.port }), { timeoutMs: 30_000, everyMs: 200 });
    expect(await ask(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
    await second.stop();
  });

  it('names a port that is taken', async () => {
    const nats = await startNats({ dataDir: path.join(folder, 'nats-taken') });
    await expect(startPostgres({ dataDir: path.join(folder, 'pg-taken'), port: nats.port })).rejects.toThrow(
      `FAILED_PRECONDITION: port ${nats.port} (Postgres) is taken`,
    );
    await nats.stop();
  });
});

describe('startNats', () => {
  it('has JetStream, 8 MB payloads and a monitoring port', async () => {
    const nats = await startNats({ dataDir: path.join(folder, 'nats') });
    const varz = (await (await fetch(`${nats.monitorUrl}/varz`)).json()) as {
      max_payload: number;
      host: string;
      jetstream: object;
    };
    expect([varz.max_payload, varz.host, Object.keys(varz.jetstream).length > 0]).toEqual([8 * 1024 * 1024, '127.0.0.1', true]);
    await nats.stop();
  });

  it('names a port that is taken', async () => {
    const port = await freePort();
    const nats = await startNats({ dataDir: path.join(folder, 'nats-a'), port });
    await expect(startNats({ dataDir: path.join(folder, 'nats-b'), port })).rejects.toThrow(`port ${port} (NATS) is taken`);
    await nats.stop();
  });
});

describe('supervise', () => {
  it('starts a service again when it ends, and not after stop', async () => {
    const entry = script('crashing.js', 'console.log("up"); setTimeout(() => process.exit(3), 30)');
    const exits: (number | null)[] = [];
    const service = await supervise({ name: 's', entry, env: {}, onExit: (_name, code) => exits.push(code) });
    await eventually(() => service.restarts() >= 2);
    await service.stop();
    const seen = exits.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([exits.length, exits.every((code) => code === 3)]).toEqual([seen, true]);
  });

  it('does not start a service again whose configuration is wrong', async () => {
    const entry = script('misconfigured.js', 'console.error("API_PORT: expected a number"); process.exit(78)');
    const exits: (number | null)[] = [];
    const service = await supervise({ name: 's', entry, env: {}, onExit: (_name, code) => exits.push(code) });
    await eventually(() => exits.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([exits, service.restarts()]).toEqual([[78], 0]);
    expect(service.tail()).toContain('API_PORT');
    await service.stop();
  });

  it('passes nothing of the environment on but what it is given', async () => {
    const entry = script('environment.js', 'console.log(JSON.stringify(process.env)); setInterval(() => {}, 1000)');
    const lines: string[] = [];
    const service = await supervise({ name: 's', entry, env: { ONLY: 'this' }, onLine: (line) => lines.push(line) });
    await eventually(() => lines.length > 0);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ ONLY: 'this' });
    await service.stop();
  });
});

describe('the orphan guard', () => {
  // Kill -9 leaves the parent no chance to clean up; an interrupt of the terminal must not reach the children first.
  it.each(['SIGKILL', 'SIGTERM'] as const)('leaves no process behind when the parent ends by %s', async (signal) => {
    const sleeper = script('sleeper.js', 'setInterval(() => {}, 1000)');
    const parent = script(
      `parent-${signal}.cjs`,
      `require(${JSON.stringify(path.join(testing, 'source-hook.cjs'))});
       const { supervise, startNats } = require(${JSON.stringify(path.resolve(__dirname, 'index.ts'))});
       (async () => {
         const nats = await startNats({ dataDir: ${JSON.stringify(path.join(folder, `nats-orphan-${signal}`))} });
         const service = await supervise({ name: 's', entry: ${JSON.stringify(sleeper)}, env: {} });
         console.log(JSON.stringify([nats.pid, service.pid()]));
       })();`,
    );
    const child = spawn(process.execPath, [parent], { stdio: ['ignore', 'pipe', 'inherit'] });
    const line = await new Promise<string>((resolve) => child.stdout.once('data', (data: Buffer) => resolve(data.toString())));
    const pids = JSON.parse(line) as number[];
    expect(pids.map(runs)).toEqual([true, true]);
    child.kill(signal);
    await eventually(() => pids.every((pid) => !runs(pid)), { timeoutMs: 15_000 });
  });

  it('stops a child that ignores being asked', async () => {
    const stubborn = script('stubborn.js', 'process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)');
    const lines: string[] = [];
    const child = await startChild({ command: process.execPath, args: [stubborn], onLine: (line) => lines.push(line) });
    await eventually(() => lines.includes('up'));
    expect((await child.stop(200)).signal).toBe('SIGKILL');
  });

  it('says which program cannot be started', async () => {
    await expect(startChild({ command: '/nowhere/nats-server', args: [] })).rejects.toThrow(
      'FAILED_PRECONDITION: cannot start /nowhere/nats-server',
    );
  });
});
