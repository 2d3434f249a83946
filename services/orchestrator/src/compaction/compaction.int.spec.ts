import { NightshiftError, compaction, routes, task } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { ScriptedCompactor, summarised } from '../scripted/scripted-compactor';
import { ScriptedGateway, call, says, shown } from '../scripted/scripted-gateway';
import { ScriptedRunner } from '../scripted/scripted-runner';
import { ScriptedWorld, team } from '../scripted/scripted-world';

const { TaskState } = task;
const { PassOutcome, PassReason } = compaction;
const world = new ScriptedWorld();
afterAll(() => world.stop());
const nats = withNats();
const database = withDatabase();
beforeAll(() => world.start(nats.url, database.url));
const until = (id: string, state: task.TaskState): Promise<task.Task> => eventually(() => world.expectState(id, state));
const finish = [call('finish', { result: 'Done.' })];
const read = [call('read_file', { path: 'a' })];
const metric = async (name: string): Promise<number> => {
  const line = (await world.orchestrator.metrics.text())
    .split('\n')
    .find((text) => text.startsWith(`nightshift_${name} `) || text.startsWith(`nightshift_${name}`));
  return Number(line?.split(' ').at(-1));
};
const generations = async (taskId: string): Promise<task.Generation[]> =>
  (await world.orchestrator.bus.request(routes.taskGenerations, { taskId }, team)).generations;

beforeEach(() => {
  ScriptedCompactor.reset();
  ScriptedRunner.reset(() => 'file content');
});

it('a task above its threshold is compacted before the next call, and the view is the summary with the goal', async () => {
  const hits = await metric('compaction_threshold_hits_total{reason="threshold"}');
  ScriptedGateway.reset((_request, number) =>
    number === 1
      ? says('', [call('update_plan', { items: [{ text: 'look', state: 'doing' }] })], { input: 100_001 })
      : says('', finish),
  );
  const { id } = await world.create({ criteria: [] });
  const done = await until(id, TaskState.COMPLETED);
  expect(done).toMatchObject({ generation: 1, thresholdHits: 1 });
  const { view } = ScriptedGateway.requests[1] ?? {};
  expect(view?.generation).toBe(1);
  expect(shown(view)).toEqual([
    'user: Add a health check',
    'user: Summary of the earlier conversation, which is hidden now:\n\nSummary of generation 1.|[goal]\nAdd a health check|[plan]\n[>] look',
  ]);
  expect(ScriptedCompactor.jobs[0]?.claim.job).toMatchObject({
    reason: PassReason.THRESHOLD,
    measured: expect.any(Number),
    chain: ['sim/primary'],
    lastSeq: 3,
  });
  expect(await generations(id)).toMatchObject([
    { generation: 1, outcome: PassOutcome.REDUCED, reason: PassReason.THRESHOLD, active: true, after: 2_000 },
  ]);
  expect(await metric('compaction_threshold_hits_total{reason="threshold"}')).toBe(hits + 1);
  expect(await world.kinds(id)).toEqual(expect.arrayContaining(['threshold_hit', 'compaction_started', 'compaction_finished']));
});

it('a refused request forces a pass and is sent again', async () => {
  ScriptedGateway.reset((_request, number) => {
    if (number === 2) throw new NightshiftError('PROVIDER_OVERFLOW', 'prompt is too long');
    return number === 1 ? says('', read) : says('', finish);
  });
  const { id } = await world.create();
  expect(await until(id, TaskState.COMPLETED)).toMatchObject({ generation: 1 });
  expect(ScriptedCompactor.jobs[0]?.claim.job?.reason).toBe(PassReason.OVERFLOW);
});

it('a fallback model with a smaller threshold is compacted for first, and then stays in use', async () => {
  ScriptedGateway.reset((_request, number) => {
    if (number === 2)
      throw new NightshiftError('COMPACT_FIRST', 'too large for sim/small', { details: { chainPosition: 1, threshold: 8_192 } });
    return number === 1 ? says('', read) : { ...says('', finish), chainPosition: 1 };
  });
  const chain = [
    { provider: 'sim', model: 'primary' },
    { provider: 'sim', model: 'small' },
  ];
  const { id } = await world.create({ chain: chain as never });
  expect(await until(id, TaskState.COMPLETED)).toMatchObject({ generation: 1, chainPosition: 1, model: 'small' });
  expect(ScriptedCompactor.jobs[0]?.run).toMatchObject({ reason: PassReason.MODEL_SWITCH, targetModel: 'small' });
  expect(ScriptedGateway.requests[2]?.chainPosition).toBe(1);
});

it('edited files, newest first, are read from the workspace for the pass', async () => {
  ScriptedRunner.files = { 'b.ts': 'export {}' };
  ScriptedGateway.reset((_request, number) =>
    number === 1
      ? says('', [call('write_file', { path: 'a.ts', content: 'x' }), call('write_file', { path: 'b.ts', content: 'x' })], {
          input: 150_000,
        })
      : says('', finish),
  );
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  expect(ScriptedCompactor.jobs[0]?.claim.job?.editedFiles).toMatchObject([
    { path: 'b.ts', content: 'export {}', unreadable: false },
    { path: 'a.ts', content: '', unreadable: true },
  ]);
});

it('messages that arrive during a pass stay behind it, in order', async () => {
  ScriptedCompactor.reset(async (job) => {
    await world.send(job.run.taskId, 'first');
    await world.send(job.run.taskId, 'second');
    return summarised(job);
  });
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', read, { input: 150_000 }) : says('', finish)));
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  expect(shown(ScriptedGateway.requests[1]?.view).slice(-2)).toEqual(['user: first', 'user: second']);
});

it('a result that comes twice, late or for another generation is dropped and counted', async () => {
  const dropped = await metric('compaction_results_dropped_total');
  let result: ReturnType<typeof summarised> | undefined;
  ScriptedCompactor.reset((job) => (result = summarised(job)));
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', read, { input: 150_000 }) : says('', finish)));
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  for (const [index, basedOnGeneration] of [0, 1, 7].entries()) {
    await world.orchestrator.bus.command(routes.compactionFinished, { ...result, basedOnGeneration } as never, {
      ...team,
      messageId: `late-${id}-${index}`,
    });
  }
  await eventually(async () => (await metric('compaction_results_dropped_total')) === dropped + 3);
  expect(await world.get(id)).toMatchObject({ generation: 1 });
});

it('three passes that do not reduce open the breaker, and the task goes on while it fits', async () => {
  ScriptedCompactor.reset((job) => summarised(job, { outcome: PassOutcome.FAILED }));
  ScriptedGateway.reset((_request, number) =>
    number < 6 ? says('', [call('read_file', { path: `${number}` })], { input: 101_000 + number }) : says('', finish),
  );
  const { id } = await world.create();
  const done = await until(id, TaskState.COMPLETED);
  expect(ScriptedCompactor.jobs).toHaveLength(3);
  expect(done).toMatchObject({ generation: 0, thresholdHits: 1, breaker: { failures: 3, open: true } });
  expect((await world.kinds(id)).filter((kind) => kind === 'breaker_tripped')).toHaveLength(1);
});

it('a pass by hand on a waiting task leaves it waiting, carries the focus, and can be undone', async () => {
  ScriptedGateway.reset((_request, number) =>
    number === 1
      ? says('Hello.', [call('update_plan', { items: [{ text: 'a', state: 'done' }] })])
      : number === 2
        ? says('', [call('ask_user', { question: 'Which?' })])
        : says('', finish),
  );
  const second = await world.create();
  await eventually(() => world.expectState(second.id, TaskState.WAITING));
  await world.orchestrator.bus.request(routes.taskCompact, { taskId: second.id, focus: 'the plan' }, team);
  const compacted = await eventually(async () => {
    const current = await world.expectState(second.id, TaskState.WAITING);
    return current.generation === 1 ? current : undefined;
  });
  expect(compacted).toMatchObject({ pending: task.Pending.USER, question: 'Which?', thresholdHits: 0 });
  expect(ScriptedCompactor.jobs[0]?.claim.job).toMatchObject({ reason: PassReason.MANUAL, focus: 'the plan' });
  const view = async (generation: number): Promise<string[]> =>
    shown((await world.orchestrator.bus.request(routes.taskView, { taskId: second.id, generation }, team)).view);
  expect(await view(1)).toHaveLength(2);
  const before = await view(0);
  const undone = await world.orchestrator.bus.request(routes.taskUndo, { taskId: second.id }, team);
  expect(undone.task).toMatchObject({ generation: 2 });
  expect(await view(2)).toEqual(before);
  expect(await generations(second.id)).toMatchObject([
    { generation: 1, active: false },
    { generation: 2, undoes: 1, active: false },
  ]);
  await expect(world.orchestrator.bus.request(routes.taskUndo, { taskId: second.id }, team)).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
  });
  await world.send(second.id, 'that one');
  await until(second.id, TaskState.COMPLETED);
  expect(ScriptedGateway.requests.at(-1)?.view?.generation).toBe(0);
});
