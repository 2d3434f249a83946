import { NightshiftError, routes, task } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { ScriptedGateway, call, says } from './scripted/scripted-gateway';
import { ScriptedRunner } from './scripted/scripted-runner';
import { ScriptedWorld, team } from './scripted/scripted-world';

const { TaskState } = task;
const world = new ScriptedWorld();
afterAll(() => world.stop());
const nats = withNats();
const database = withDatabase();
beforeAll(() => world.start(nats.url, database.url));

it('a step that fails every time pauses its task instead of looping, and a resume tries again', async () => {
  ScriptedRunner.reset(() => 'x');
  ScriptedGateway.reset((_request, number) => {
    if (number === 1) return says('', [call('read_file', { path: 'a' })]);
    throw new NightshiftError('INTERNAL', 'a fault of the platform');
  });
  const { id } = await world.create();
  const paused = await eventually(() => world.expectState(id, TaskState.PAUSED), { timeoutMs: 50_000, everyMs: 200 });
  expect(paused.reason).toMatch(/no progress in 5 attempts|could not be handled/);
  ScriptedGateway.reset(() => says('', [call('finish', { result: 'Done.' })]));
  await world.orchestrator.bus.request(routes.taskResume, { taskId: id }, team);
  await eventually(() => world.expectState(id, TaskState.COMPLETED));
}, 60_000);

it('NATS away: what was recorded goes on when it is back', async () => {
  let release = (): void => undefined;
  ScriptedRunner.reset(() => new Promise((resolve) => (release = () => resolve('read'))));
  ScriptedGateway.reset((_request, number) =>
    number === 1 ? says('', [call('read_file', { path: 'a' })]) : says('', [call('finish', { result: 'Done.' })]),
  );
  const { id } = await world.create();
  await eventually(() => ScriptedRunner.ran.length === 1);
  await nats.kill();
  await nats.start();
  release();
  await eventually(() => world.expectState(id, TaskState.COMPLETED), { timeoutMs: 40_000, everyMs: 200 });
  const { calls } = await world.orchestrator.bus.request(routes.taskToolCalls, { taskId: id }, team);
  expect(calls.map(({ tool, state }) => `${tool} ${state}`)).toEqual(['read_file finished', 'finish finished']);
}, 60_000);
