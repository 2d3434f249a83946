import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@nightshift/testing';

const root = path.resolve(__dirname, '..');
const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-start-'));
const stateDir = path.join(folder, 'state');
// Away from the ports of a running installation and of other runs of this spec.
const offset = 2_000 + (process.pid % 2_000) * 10;
const place = ['--state-dir', stateDir, '--port-offset', String(offset)];

interface Started {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
}

const startedNow: Started[] = [];

function script(name: string, ...args: string[]): Started {
  const child = spawn(process.execPath, [path.join(root, `scripts/${name}.mjs`), ...args, ...place], { cwd: root });
  let text = '';
  child.stdout?.on('data', (piece: Buffer) => (text += piece.toString()));
  child.stderr?.on('data', (piece: Buffer) => (text += piece.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const started = { child, output: () => text, ended };
  startedNow.push(started);
  return started;
}

afterEach(() => {
  for (const { child } of startedNow.splice(0)) child.kill('SIGTERM');
});

async function outcome(name: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  const started = script(name, ...args);
  return { code: await started.ended, text: started.output() };
}

function says(started: Started, text: string | RegExp, timeoutMs: number): Promise<true> {
  const found = (): true | undefined => (started.output().match(text) ? true : undefined);
  return eventually(found, { timeoutMs, everyMs: 100 });
}

/** Every process of the running installation. */
function pids(): number[] {
  const state = JSON.parse(readFileSync(path.join(stateDir, 'state.json'), 'utf8')) as { pids: Record<string, number> };
  return Object.values(state.pids);
}

function alive(pid: number): boolean {
  return spawnSync('kill', ['-0', String(pid)]).status === 0;
}

async function noneLeft(of: readonly number[]): Promise<void> {
  await eventually(() => of.every((pid) => !alive(pid)), { timeoutMs: 20_000, everyMs: 200 });
}

afterAll(async () => {
  await outcome('stop');
  rmSync(folder, { recursive: true, force: true });
});

/** On a busy machine of two cores; alone it takes a third of this. */
const patienceMs = 300_000;
const reportFile = path.join(folder, 'report.json');

it(
  'runs the sample task once, and its report holds against Postgres, the metrics and the simulator',
  async () => {
    const once = script('start', '--no-install', '--once', '--report', reportFile);
    await says(once, 'Nightshift is ready', 60_000);
    const running = pids();
    expect(running).toHaveLength(10);
    expect([await once.ended, once.output()]).toEqual([0, expect.stringContaining('Everything happened as it should.')]);
    await noneLeft(running);
    const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Record<string, unknown>;
    expect(Object.keys(report)).toEqual([
      'ok',
      'seconds',
      'services',
      'task',
      'thresholdHits',
      'compactions',
      'fallbacks',
      'restores',
      'reinjected',
    ]);
    expect(await outcome('verify-report', reportFile)).toMatchObject({ code: 0 });

    const forged = path.join(folder, 'forged.json');
    writeFileSync(forged, JSON.stringify({ ...report, thresholdHits: 9 }));
    const verified = await outcome('verify-report', forged);
    expect(verified.code).toBe(1);
    expect(verified.text).toMatch(/thresholdHits: the report says 9, Postgres says [2-8]/);
  },
  patienceMs,
);

it(
  'leaves no process behind when interrupted, and goes on with the same task',
  async () => {
    const first = script('start', '--no-install', '--sample');
    await says(first, /plan: \d+ of/, 90_000);
    const task = /sample task (\S+)/.exec(first.output())?.[1];
    const before = pids();
    first.child.kill('SIGINT');
    await first.ended;
    await noneLeft(before);

    const second = script('start', '--no-install', '--sample');
    await says(second, /plan: \d+ of/, 90_000);
    expect(second.output()).toContain(`sample task ${task}`);

    // While it runs: a second start is refused, status tells, a lost key is replaced.
    expect(await outcome('start', '--no-install')).toMatchObject({ code: 2, text: expect.stringContaining('runs already') });
    // The sample has just killed one of them.
    await eventually(async () => (await outcome('status')).code === 0, { timeoutMs: 30_000 });
    const keyFile = path.join(stateDir, 'admin.key');
    const lost = readFileSync(keyFile, 'utf8');
    rmSync(keyFile);
    const nightshift = (...args: string[]) =>
      spawnSync(process.execPath, [path.join(root, 'libs/cli/bin/nightshift.cjs'), ...args], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: folder, NIGHTSHIFT_STATE_DIR: stateDir },
      });
    expect(nightshift('tasks').stderr).toContain('no API key');
    expect(nightshift('keys', 'reset').stdout).toContain('the old one is revoked');
    await eventually(() => nightshift('tasks').stdout.includes(task ?? '?'));
    expect(readFileSync(keyFile, 'utf8')).not.toBe(lost);

    // Killed without a chance to stop anything.
    const orphans = pids();
    second.child.kill('SIGKILL');
    await second.ended;
    await noneLeft(orphans);
    expect(await outcome('status')).toMatchObject({ code: 3 });
  },
  patienceMs,
);

it(
  'names a port that is taken, and reset clears the data',
  async () => {
    const server: Server = createServer();
    await new Promise<void>((resolve) => server.listen(7430 + offset, '127.0.0.1', resolve));
    const refused = await outcome('start', '--no-install', '--no-sample');
    server.close();
    expect(refused.code).toBe(2);
    expect(refused.text).toContain(`port ${7430 + offset} (NATS) is taken`);
    expect((await outcome('reset')).code).toBe(0);
    for (const name of ['postgres', 'nats', 'sample', 'admin.key']) expect(existsSync(path.join(stateDir, name))).toBe(false);
  },
  patienceMs,
);
