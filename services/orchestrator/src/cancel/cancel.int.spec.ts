import { NightshiftError, routes, task } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { ScriptedCompactor, summarised } from '../scripted/scripted-compactor';
import { ScriptedGateway, call, says, shown } from '../scripted/scripted-gateway';
import { ScriptedRunner } from '../scripted/scripted-runner';
import { ScriptedWorld, team } from '../scripted/scripted-world';

const { TaskState } = task;
const world = new ScriptedWorld();
afterAll(() => world.stop());
const nats = withNats();
const database = withDatabase();
beforeAll(() => world.start(nats.url, database.url));
const until = (id: string, state: task.TaskState): Promise<task.Task> => eventually(() => world.expectState(id, state));
const finish = [call('finish', { result: 'Done.' })];
const read = [call('read_file', { path: 'a' })];
const cancel = (taskId: string): Promise<task.CancelReply> =>
  world.orchestrator.bus.request(routes.taskCancel, { taskId, reason: 'enough' }, team);

/** Resolves when the caller is gone, as a real stream would end. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new NightshiftError('CANCELLED', 'aborted'))));
const never = new Promise<never>(() => undefined);

beforeEach(() => {
  ScriptedCompactor.reset();
  ScriptedRunner.reset(() => 'content');
});

async function expectReceipt(id: string, started: number): Promise<void> {
  const asked = Date.now();
  await cancel(id);
  const done = await until(id, TaskState.CANCELLED);
  expect(Date.now() - asked).toBeLessThan(2_000);
  expect(done.receipt).toMatchObject({
    complete: true,
    callsStartedAfter: 0,
    confirmations: expect.arrayContaining(['tool-runner/r1']),
  });
  const calls = ScriptedGateway.requests.length;
  expect(calls).toBe(started);
  expect(await world.kinds(id)).toEqual(expect.arrayContaining(['cancel_requested', 'cancelled']));
  // Terminal states are immutable.
  await expect(world.send(id, 'hello?')).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  expect((await cancel(id)).task?.state).toBe(TaskState.CANCELLED);
}

it('cancels while the model is writing: its answer is dropped', async () => {
  ScriptedGateway.reset((_request, _number, signal) => untilAborted(signal));
  const { id } = await world.create();
  await eventually(() => ScriptedGateway.requests.length === 1);
  await expectReceipt(id, 1);
  expect(ScriptedGateway.stops[0]).toMatchObject({ taskId: id });
});

it('cancels while a tool runs: no further call is granted', async () => {
  let release = (): void => undefined;
  ScriptedRunner.reset(() => new Promise((resolve) => (release = () => resolve('late'))));
  ScriptedGateway.reset(() => says('', [...read, call('write_file', { path: 'b', content: 'x' })]));
  const { id } = await world.create();
  await eventually(() => ScriptedRunner.ran.length === 1);
  await expectReceipt(id, 1);
  release();
  await eventually(async () => {
    const { calls } = await world.orchestrator.bus.request(routes.taskToolCalls, { taskId: id }, team);
    return calls.map(({ state }) => state).join() === 'finished,intended';
  });
  expect(ScriptedRunner.ran).toHaveLength(1);
});

it('cancels during a pass: its result is dropped', async () => {
  ScriptedCompactor.reset(() => never);
  ScriptedGateway.reset(() => says('', read, { input: 150_000 }));
  const { id } = await world.create();
  await until(id, TaskState.COMPACTING);
  await eventually(() => ScriptedCompactor.jobs.length === 1);
  await expectReceipt(id, 1);
  const [job] = ScriptedCompactor.jobs;
  await world.orchestrator.bus.command(routes.compactionFinished, summarised(job!), { ...team, messageId: `${id}:late` });
  expect(await world.get(id)).toMatchObject({ state: TaskState.CANCELLED, generation: 0 });
});

it('cancels while waiting for the user', async () => {
  ScriptedGateway.reset(() => says('', [call('ask_user', { question: 'Which?' })]));
  const { id } = await world.create();
  await until(id, TaskState.WAITING);
  await expectReceipt(id, 1);
});

it('pauses before the next model call, and resumes there', async () => {
  ScriptedRunner.reset(async (_call, taskId) => {
    await world.orchestrator.bus.request(routes.taskPause, { taskId }, team);
    return 'content';
  });
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', read) : says('', finish)));
  const { id } = await world.create();
  expect(await until(id, TaskState.PAUSED)).toMatchObject({ reason: 'paused by the user' });
  expect(ScriptedGateway.requests).toHaveLength(1);
  await world.send(id, 'by the way');
  await world.orchestrator.bus.request(routes.taskResume, { taskId: id }, team);
  await until(id, TaskState.COMPLETED);
  expect(shown(ScriptedGateway.requests[1]?.view).slice(-2)).toEqual(['results: content', 'user: by the way']);
});

it('cancels a paused task', async () => {
  ScriptedGateway.reset(() => says('', [call('ask_user', { question: 'Which?' })]));
  const { id } = await world.create();
  await until(id, TaskState.WAITING);
  await world.orchestrator.bus.request(routes.taskPause, { taskId: id }, team);
  await until(id, TaskState.PAUSED);
  await expectReceipt(id, 1);
});

it('cancels everything below a task', async () => {
  ScriptedGateway.reset(() => says('', [call('ask_user', { question: 'Which?' })]));
  const parent = await world.create();
  const child = await world.create({ parentId: parent.id });
  expect(child).toMatchObject({ parentId: parent.id, rootId: parent.id });
  await until(child.id, TaskState.WAITING);
  await cancel(parent.id);
  await until(parent.id, TaskState.CANCELLED);
  expect(await until(child.id, TaskState.CANCELLED)).toMatchObject({ reason: `its parent ${parent.id} was cancelled` });
});

it('a loop is told to the model once, then the task pauses with the reason', async () => {
  ScriptedGateway.reset(() => says('', read));
  const { id } = await world.create();
  const paused = await until(id, TaskState.PAUSED);
  expect(paused.reason).toContain('loop guard "repetition"');
  expect(ScriptedGateway.requests).toHaveLength(6);
  const told = shown(ScriptedGateway.requests.at(-1)?.view).filter((text) => text.includes('guard_repetition'));
  expect(told).toHaveLength(1);
});

it('the iteration limit gives two turns to wrap up', async () => {
  ScriptedRunner.reset(({ args }) => JSON.stringify(args));
  ScriptedGateway.reset((_request, number) => says('', [call('read_file', { path: `${number}` })]));
  const { id } = await world.create({ options: { maxIterations: 3 } as never });
  expect((await until(id, TaskState.PAUSED)).reason).toContain('iteration limit of 3');
  expect(ScriptedGateway.requests).toHaveLength(5);
  expect(shown(ScriptedGateway.requests[3]?.view).at(-1)).toContain('2 turns are left');
  expect(shown(ScriptedGateway.requests[4]?.view).at(-1)).toContain('This is the last turn');
});
