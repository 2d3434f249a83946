import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { errorCodes, serviceNames, type ErrorCode, type ServiceName } from '@nightshift/contracts';
import { eventually, type RunningStack } from '@nightshift/testing';
import { Fleet, type Ending } from './fleet';
import { startSmallStack } from './small-task';
import { SteadyLoad } from './steady-load';

const graceMs = 8_000;
/** A runner has its workspaces on its own disk and its queue for itself: it is replaced in place, the others one beside the other. */
const inPlace: readonly ServiceName[] = ['tool-runner'];
jest.setTimeout(10 * 60_000);

/** What an upgrade does to each service, while tasks run and clients ask. */
describe('a rolling restart under load', () => {
  let stack: RunningStack;
  let fleet: Fleet;
  let load: SteadyLoad;
  const endings: Ending[] = [];

  beforeAll(async () => {
    stack = await startSmallStack(
      { calls: 18, tools: 'write_file,read_file,run_command', chars: 4_000, latency: { firstTokenMs: 150 } },
      {
        services: [],
        env: { all: { SHUTDOWN_GRACE_MS: String(graceMs) }, api: { SHUTDOWN_DELAY_MS: '1000' } },
      },
    );
    fleet = new Fleet(stack);
    await Promise.all(serviceNames.map((service) => fleet.start(service)));
    load = new SteadyLoad(stack, fleet);
    load.start(4, 2);
    await eventually(() => load.tasks.length >= 4);
  });
  afterAll(async () => {
    await fleet?.stop();
    await stack?.stop();
  });

  const replace = async (service: ServiceName): Promise<Ending> => {
    const old = fleet.of(service);
    if (inPlace.includes(service)) {
      const ending = await fleet.end(old);
      await fleet.start(service);
      return ending;
    }
    await fleet.start(service);
    return fleet.end(old);
  };

  it.each(serviceNames)('replaces %s: the old one drains within its grace period', async (service) => {
    const tasks = load.tasks.length;
    const ending = await replace(service);
    endings.push(ending);
    expect({ code: ending.code, signal: ending.signal }).toEqual({ code: 0, signal: null });
    expect(ending.ms).toBeLessThan(graceMs);
    // Work goes on: a task that began afterwards ends.
    await eventually(() => load.tasks.length > tasks, { timeoutMs: 90_000 });
  });

  it('showed no client an error, and every follower every event once', async () => {
    const tasks = await load.end();
    const times = endings.map(({ name, ms }) => `${name} ended in ${ms} ms`).join(', ');
    console.log(
      `${times}; ${load.requests} requests, ${load.reconnects} streams taken up again, ${tasks.length} tasks, ${load.passes} passes`,
    );
    expect(load.troubles).toEqual([]);
    for (const seen of load.followed.values()) expect(seen).toEqual(seen.map((_, index) => index + 1));
    expect(tasks.filter(({ state }) => state !== 'completed')).toEqual([]);
    expect(load.passes).toBeGreaterThanOrEqual(tasks.length);
  });

  it('made no tool call twice and none of unknown outcome', async () => {
    const journals = path.join(stack.folder, 'workspaces');
    const started = readdirSync(journals, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('journal.log'))
      .flatMap((file) => readFileSync(path.join(journals, file), 'utf8').split('\n').filter(Boolean))
      .map((line) => JSON.parse(line) as { call: string; started?: object })
      .flatMap((line) => (line.started ? [line.call] : []));
    expect(started.length).toBeGreaterThan(24 * 4);
    expect(started.length).toBe(new Set(started).size);
    for (const id of load.tasks) {
      const { calls } = await load.get<{ calls: { state: string }[] }>(`/v1/tasks/${id}/tool-calls`);
      expect(calls.filter(({ state }) => state !== 'finished')).toEqual([]);
    }
  });

  it('paid for no model call twice', () => {
    const calls = stack.simulatorLog() as { kind: string; purpose?: string; sha256?: string }[];
    const turns = calls.flatMap(({ kind, purpose, sha256 }) => (kind === 'model' && purpose === 'turn' ? [sha256] : []));
    expect(turns.length).toBeGreaterThan(24 * 4);
    expect(turns.length).toBe(new Set(turns).size);
  });

  it('counted no delivery as failed and put nothing away', async () => {
    const counted = fleet.log().filter(({ line }) => {
      const code = line.msg === 'a handler failed' && typeof line.code === 'string' ? (line.code as ErrorCode) : undefined;
      return code !== undefined && errorCodes[code].failedAttempt;
    });
    expect(counted).toEqual([]);
    expect(await load.get('/v1/dead-letters')).toEqual({ deadLetters: [] });
    expect(fleet.log().filter(({ line }) => ['error', 'fatal'].includes(String(line.level)))).toEqual([]);
  });
});
