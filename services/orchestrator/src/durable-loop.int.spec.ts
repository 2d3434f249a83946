import type { RunningService } from '@nightshift/bus';
import { routes, task } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { ScriptedGateway, call, says } from './scripted/scripted-gateway';
import { ScriptedRunner } from './scripted/scripted-runner';
import { ScriptedWorld, startOrchestrator, team } from './scripted/scripted-world';

const { TaskState } = task;
const world = new ScriptedWorld();
let second: RunningService;
afterAll(async () => {
  await second?.stop();
  await world.stop();
});
const nats = withNats();
const database = withDatabase();
beforeAll(async () => {
  await world.start(nats.url, database.url);
  second = await startOrchestrator(nats.url, database.url);
});
const until = (id: string, state: task.TaskState): Promise<task.Task> => eventually(() => world.expectState(id, state));
const finish = [call('finish', { result: 'Done.' })];
const read = [call('read_file', { path: 'a' })];
const rowOf = async (id: string): Promise<{ epoch: number; lease_owner: string | null }> => {
  const { rows } = await database.pool.query('SELECT epoch, lease_owner FROM tasks WHERE id = $1', [id]);
  return rows[0];
};

beforeEach(() => ScriptedRunner.reset(() => 'content'));

it('a command of a past epoch, of nobody’s task or repeated does nothing', async () => {
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', read) : says('', finish)));
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  const before = await world.get(id);
  for (const [index, taskId] of [id, id, '0190a000-0000-7000-8000-000000000009', 'not an id'].entries()) {
    await world.orchestrator.bus.command(
      routes.taskStep,
      { taskId, epoch: index },
      { ...team, messageId: `stray-${id}-${index}` },
    );
  }
  expect(await world.get(id)).toEqual(before);
  expect(ScriptedGateway.requests).toHaveLength(2);
});

it('a step whose lease was taken over is fenced: its result is dropped, the other one counts', async () => {
  let release = (): void => undefined;
  ScriptedGateway.reset((_request, number) =>
    number === 1 ? new Promise((resolve) => (release = () => resolve(says('', finish)))) : says('', finish),
  );
  const { id } = await world.create();
  await eventually(() => ScriptedGateway.requests.length === 1);
  // What a frozen process looks like from outside: somebody else holds the lease of the same epoch now.
  await database.pool.query(
    `UPDATE tasks SET lease_owner = 'somebody else', lease_until = now() + interval '1 second' WHERE id = $1`,
    [id],
  );
  const { epoch } = await rowOf(id);
  release();
  await eventually(async () => ((await rowOf(id)).lease_owner === 'somebody else' ? true : undefined));
  expect(await rowOf(id)).toMatchObject({ epoch });
  // The other one dies as well: the sweeper hands the task on, and the stored answer is used, not paid for again.
  await until(id, TaskState.COMPLETED);
  expect(ScriptedGateway.requests).toHaveLength(1);
  expect(ScriptedGateway.replayed).toBe(1);
});

it('a wake-up that was never published is published by the sweeper: step, tools and pass', async () => {
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', read) : says('', finish)));
  const { id } = await world.create({ workspace: undefined });
  await until(id, TaskState.COMPLETED);
  // As after a crash between commit and publish: pending, overdue, and no message anywhere.
  await database.pool.query(
    `UPDATE tasks SET state = 1, pending = 1, ended_at = NULL, epoch = epoch + 1, due_at = now() WHERE id = $1`,
    [id],
  );
  ScriptedGateway.reset(() => says('', finish));
  await until(id, TaskState.COMPLETED);
});

it('two orchestrators share forty tasks, and none is worked on twice', async () => {
  ScriptedGateway.reset((_request, number) =>
    number <= 3 ? says('', [call('read_file', { path: `${number}` })]) : says('', finish),
  );
  const tasks = await Promise.all(Array.from({ length: 40 }, () => world.create()));
  const done = await Promise.all(
    tasks.map(({ id }) => eventually(() => world.expectState(id, TaskState.COMPLETED), { timeoutMs: 30_000 })),
  );
  expect(done.map(({ iterations, lastSeq }) => `${iterations} ${lastSeq}`)).toEqual(done.map(() => '4 9'));
  expect(ScriptedGateway.requests).toHaveLength(160);
  expect(ScriptedRunner.ran).toHaveLength(120);
});

it('of two results of one call the first counts, whichever orchestrator records it', async () => {
  ScriptedGateway.reset(({ view }) =>
    view?.messages.some(({ body }) => body.case === 'toolResults') ? says('', finish) : says('', read),
  );
  ScriptedRunner.reset(async ({ claim }, taskId) => {
    const { rows } = await database.pool.query<{ call_id: string }>(
      `SELECT call_id FROM tool_calls WHERE task_id = $1 AND state = 'started'`,
      [taskId],
    );
    const callId = rows[0]?.call_id ?? '';
    const result = { parts: [{ kind: { case: 'text' as const, value: 'from elsewhere' } }] };
    // On its way beside the runner's own report: either may come first, at either orchestrator.
    void world.orchestrator.bus.command(
      routes.toolFinished,
      { taskId, callId, runner: 'r2', ms: 1, result },
      { ...team, messageId: `${callId}:elsewhere` },
    );
    return `read at ${claim.generation}`;
  });
  const tasks = await Promise.all(Array.from({ length: 20 }, () => world.create()));
  await Promise.all(tasks.map(({ id }) => until(id, TaskState.COMPLETED)));
  const { rows } = await database.pool.query<{ state: string; results: number; closed: number }>(
    `SELECT c.state, (SELECT count(*)::int FROM task_entries e WHERE e.task_id = c.task_id AND e.kind = 'toolResult') AS results,
       (SELECT count(*)::int FROM task_events v WHERE v.task_id = c.task_id AND v.kind = 'tool_finished'
         AND v.data_json::json->>'callId' = c.call_id::text) AS closed
     FROM tool_calls c WHERE c.task_id = ANY($1) AND c.tool = 'read_file'`,
    [tasks.map(({ id }) => id)],
  );
  expect(rows).toEqual(Array.from({ length: 20 }, () => ({ state: 'finished', results: 2, closed: 1 })));
});

it('a dead letter unparks its task: a step pauses, a tool call is unknown, and a retry runs again', async () => {
  ScriptedRunner.reset(() => new Promise(() => undefined));
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', read) : says('', finish)));
  const { id } = await world.create();
  await eventually(() => ScriptedRunner.ran.length === 1);
  const { calls } = await world.orchestrator.bus.request(routes.taskToolCalls, { taskId: id }, team);
  const { toBinary, create } = await import('@bufbuild/protobuf');
  const { tool } = await import('@nightshift/contracts');
  const body = toBinary(tool.RunSchema, create(tool.RunSchema, { taskId: id, callId: calls[0]!.callId, tool: 'read_file' }));
  const letter = {
    stream: 's',
    consumer: 'c',
    streamSeq: 1,
    subject: `${routes.toolRun.subject}.r1`,
    route: 'toolRun',
    body,
    reason: 'five deliveries',
    deliveries: 6,
  };
  const put = await world.orchestrator.bus.request(routes.deadletterPut, letter, team);
  expect((await world.orchestrator.bus.request(routes.deadletterPut, letter, team)).id).toBe(put.id);
  await until(id, TaskState.COMPLETED);
  const after = await world.orchestrator.bus.request(routes.taskToolCalls, { taskId: id }, team);
  expect(after.calls[0]?.state).toBe('unknown');
  const { deadLetters } = await world.orchestrator.bus.request(routes.deadletterList, { state: 'waiting' }, team);
  expect(deadLetters).toMatchObject([
    { id: put.id, taskId: id, route: 'toolRun', reason: 'five deliveries', bodyJson: expect.stringContaining('read_file') },
  ]);
  await world.orchestrator.bus.request(routes.deadletterResolve, { id: put.id, action: 'retry' }, team);
  await eventually(() => ScriptedRunner.refused.includes('closed'));
  await expect(
    world.orchestrator.bus.request(routes.deadletterResolve, { id: put.id, action: 'retry' }, team),
  ).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('a runner that is silent for its lease time leaves the task waiting for it, with started calls unknown', async () => {
  ScriptedRunner.reset(() => new Promise(() => undefined));
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', read) : says('', finish)));
  const { id } = await world.create();
  await eventually(() => ScriptedRunner.ran.length === 1);
  await database.pool.query(`UPDATE runners SET lease_until = now() - interval '1 second'`);
  await database.pool.query('UPDATE tasks SET due_at = now() WHERE id = $1', [id]);
  expect((await until(id, TaskState.WAITING)).reason).toContain('workspace lost');
  await world.orchestrator.bus.request(
    routes.runnerAnnounce,
    { runner: 'r1', sandboxed: true, allowedRoots: ['/repos'], slots: 4 },
    { team: 'system' },
  );
  await eventually(() => world.expectState(id, TaskState.COMPLETED), { timeoutMs: 20_000 });
  const { calls } = await world.orchestrator.bus.request(routes.taskToolCalls, { taskId: id }, team);
  expect(calls[0]?.state).toBe('unknown');
});
