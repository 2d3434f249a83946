import { flag, integer, loadConfig } from '@nightshift/config';
import { task } from '@nightshift/contracts';
import { createPool, type Pool } from '@nightshift/db';
import { eventually, type RunningStack } from '@nightshift/testing';
import {
  CrashLoad,
  filesOf,
  kinds,
  marksOf,
  startCrashStack,
  type Kind,
  type LoadedTask,
  type Round,
  type Work,
} from './crash-load';
import { CrashPlan, crashPoints, type CrashPoint } from './crash-plan';

/**
 * One load of many tasks, and every named crash point of every service one after another, the next after recovery; then NATS and
 * Postgres. `npm run e2e -- crash --each`: a load of its own for each point. A model that takes seconds keeps the load running
 * while processes die; at the end it answers at once.
 */
const { CRASH_EACH: each, CRASH_TASKS: tasks } = loadConfig({
  CRASH_EACH: flag().default(false),
  CRASH_TASKS: integer({ min: 20, max: 1_000 }).default(200),
});
/** What both texts say around the place where they part. */
function firstDifference(is: string, should: string): { is: string; should: string } {
  let at = 0;
  while (at < is.length && is[at] === should[at]) at++;
  const around = (text: string): string => `${text.slice(0, 60)} […] ${text.slice(Math.max(0, at - 40), at + 160)}`;
  return { is: around(is), should: around(should) };
}

const paceMs = 14_000;
const endWithinMs = 180_000;
jest.setTimeout(60 * 60_000);

/** Of ten tasks six are never compacted, two by summary, two without. */
const turns: readonly Kind[] = [...Array<Kind>(6).fill('wide'), 'tight', 'tight', 'refused', 'wordy'];
const kindOf = (index: number): Kind => turns[index % turns.length] ?? 'wide';

describe('tasks under load', () => {
  let stack: RunningStack;
  let pool: Pool;
  let plan: CrashPlan;
  const undisturbed = new Map<Kind, { work: Work; files: string[]; marks: string[] }>();

  beforeAll(async () => {
    plan = new CrashPlan();
    stack = await startCrashStack(plan.environment());
    pool = createPool({ DATABASE_URL: stack.databaseUrl, DATABASE_POOL_SIZE: 2 });
    const load = new CrashLoad(stack, pool);
    await load.latency(0);
    for (const kind of kinds) await load.start(`undisturbed-${kind}`, kind);
    await load.ended(endWithinMs);
    for (const one of load.tasks)
      undisturbed.set(one.kind, { work: await load.work(one), files: filesOf(one), marks: marksOf(one) });
  });
  afterAll(async () => {
    await pool?.end();
    await stack?.stop();
    plan?.remove();
  });

  const startLoad = async (name: string, count: number): Promise<CrashLoad> => {
    const load = new CrashLoad(stack, pool);
    await load.latency(paceMs);
    for (let first = 0; first < count; first += 20)
      await Promise.all(
        Array.from({ length: Math.min(20, count - first) }, (_, i) => load.start(`${name}-${first + i}`, kindOf(first + i))),
      );
    return load;
  };
  const fire = async (load: CrashLoad, point: CrashPoint): Promise<void> => {
    const seconds = await plan.fire(stack, point, () => load.trigger(point));
    process.stdout.write(`${(point.name ?? point.service).padEnd(32)} died and is back after ${seconds.toFixed(1)} s\n`);
  };
  const restartServers = async (): Promise<void> => {
    await stack.killNats();
    await stack.startNats();
    await stack.ready();
    await stack.killPostgres();
    await stack.startPostgres();
    await stack.ready();
    await eventually(() => pool.query('SELECT 1'), { timeoutMs: 30_000 });
  };

  const expectUnharmed = async (load: CrashLoad): Promise<void> => {
    await load.latency(0);
    await load.ended(endWithinMs);
    const states = await load.states();
    const stateOf = ({ id }: LoadedTask): string => task.TaskState[states.get(id) ?? 0] ?? '?';
    const lost = load.tasks.filter((one) => !one.cancelled && stateOf(one) !== 'COMPLETED');
    const lostBecause = lost.map(async (one) => `${one.id} ${one.kind} ${stateOf(one)}: ${await load.reasonOf(one)}`);
    expect(await Promise.all(lostBecause)).toEqual([]);
    const twice = load.tasks.filter((one) => new Set(marksOf(one)).size !== marksOf(one).length);
    expect(twice.map((one) => ({ task: one.id, marks: marksOf(one) }))).toEqual([]);
    let unknownOutcomes = 0;
    const differing: object[] = [];
    for (const one of load.tasks) {
      if (stateOf(one) === 'CANCELLED' && one.cancelled) continue;
      const expected = undisturbed.get(one.kind);
      const { rounds, unknown } = await load.work(one);
      unknownOutcomes += unknown.length;
      // Of a call whose outcome was unknown it is for the model to say whether it is made again.
      const certain = (all: readonly Round[] = []): string[] =>
        all.filter(({ call }) => !unknown.includes(call)).map(({ call, result }) => `${call} -> ${result}`);
      const [is, should] = [certain(rounds), certain(expected?.work.rounds)];
      const at = Array.from({ length: Math.max(is.length, should.length) }).findIndex((_, index) => is[index] !== should[index]);
      if (at >= 0) differing.push({ task: one.id, kind: one.kind, at, ...firstDifference(is[at] ?? '', should[at] ?? '') });
      const files = filesOf(one);
      const unlike = (of: readonly string[], others: readonly string[]): string[] => of.filter((file) => !others.includes(file));
      const [more, missing] = [unlike(files, expected?.files ?? []), unlike(expected?.files ?? [], files)];
      if (more.length + missing.length > 0) differing.push({ task: one.id, kind: one.kind, more, missing, unknown });
    }
    expect(differing).toEqual([]);
    const cancelled = load.tasks.filter((one) => stateOf(one) === 'CANCELLED').length;
    console.log(
      `${load.tasks.length} tasks: ${load.tasks.length - cancelled} completed, ${cancelled} cancelled, 0 lost, 0 effects twice, ` +
        `${unknownOutcomes} outcomes unknown`,
    );
  };

  if (each) {
    it.each(crashPoints.map((point) => [point.name ?? point.service, point] as const))('survive %s', async (name, point) => {
      const load = await startLoad(name, tasks);
      await fire(load, point);
      await expectUnharmed(load);
    });
  }
  it(
    each
      ? 'survive a restart of NATS and Postgres'
      : 'survive every crash point of every service, and a restart of NATS and Postgres',
    async () => {
      const load = await startLoad('all', tasks);
      if (!each) for (const point of crashPoints) await fire(load, point);
      await restartServers();
      await expectUnharmed(load);
    },
  );
});
