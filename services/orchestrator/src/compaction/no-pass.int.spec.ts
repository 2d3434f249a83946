import { create, toBinary } from '@bufbuild/protobuf';
import type { RunningService } from '@nightshift/bus';
import { compaction, routes, task } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { ScriptedCompactor } from '../scripted/scripted-compactor';
import { ScriptedGateway, call, says } from '../scripted/scripted-gateway';
import { publishWindows, startGateway, startScripted } from '../scripted/scripted-services';
import { startOrchestrator, team } from '../scripted/scripted-world';

const { TaskState } = task;
const services: RunningService[] = [];
let orchestrator: RunningService;
const nats = withNats();
const database = withDatabase();
beforeAll(async () => {
  orchestrator = await startOrchestrator(nats.url, database.url);
  services.push(orchestrator);
  await publishWindows(orchestrator, { 'sim/primary': 200_000 });
  services.push(await startGateway(nats.url));
});
afterAll(async () => {
  for (const service of services.toReversed()) await service.stop();
});

const get = async (taskId: string): Promise<task.Task> => {
  const reply = await orchestrator.bus.request(routes.taskGet, { taskId }, team);
  if (!reply.task) throw new Error('a reply without its task');
  return reply.task;
};
const until = (id: string, state: task.TaskState): Promise<task.Task> =>
  eventually(async () => {
    const current = await get(id);
    if (current.state !== state) throw new Error(`state ${TaskState[current.state]}: ${current.reason}`);
    return current;
  });
/** The pass that the task waits for; throws until there is one beside those that were closed. */
async function openPass(id: string, closed: readonly string[]): Promise<string> {
  const { rows } = await database.pool.query<{ pass_id: string | null }>('SELECT pass_id FROM tasks WHERE id = $1', [id]);
  const passId = rows[0]?.pass_id;
  if (!passId || closed.includes(passId)) throw new Error('no open pass yet');
  return passId;
}
const eventsOf = async (taskId: string): Promise<task.EventsReply['events']> =>
  (await orchestrator.bus.request(routes.taskEvents, { taskId, limit: 2_000 }, team)).events;

/** A task whose first answer lies above the threshold. */
async function overfull(): Promise<string> {
  ScriptedGateway.reset((_request, number) =>
    number === 1
      ? says('', [call('update_plan', { items: [{ text: 'look', state: 'doing' }] })], { input: 150_000 })
      : says('', [call('finish', { result: 'Done.' })]),
  );
  const created = await orchestrator.bus.request(
    routes.taskCreate,
    { goal: 'Add a health check', chain: [{ provider: 'sim', model: 'primary' }] },
    team,
  );
  if (!created.task) throw new Error('a reply without its task');
  await until(created.task.id, TaskState.COMPACTING);
  return created.task.id;
}

// The tests share their servers: the first two run while no compactor is there, the last one brings one.
it('without a worker the task stays in compacting, is published again with one and the same pass, and is shown as waiting', async () => {
  const id = await overfull();
  const passOf = async (): Promise<{ pass_id: string; publish_count: number }> =>
    (await database.pool.query('SELECT pass_id, publish_count FROM tasks WHERE id = $1', [id])).rows[0];
  const first = await passOf();
  await database.pool.query('UPDATE tasks SET due_at = now() WHERE id = $1', [id]);
  await eventually(async () => (await passOf()).publish_count > first.publish_count);
  expect((await passOf()).pass_id).toBe(first.pass_id);
  expect(await get(id)).toMatchObject({ state: TaskState.COMPACTING, pending: task.Pending.COMPACTION, generation: 0 });
  expect(ScriptedGateway.requests).toHaveLength(1);
  // What the alert on stalled tasks looks at.
  await database.pool.query("UPDATE tasks SET updated_at = now() - interval '16 minutes' WHERE id = $1", [id]);
  expect(await orchestrator.metrics.text()).toMatch(/^nightshift_tasks_stalled 1$/m);
  expect(await orchestrator.metrics.text()).toMatch(/^nightshift_task_states\{state="compacting"\} 1$/m);
  await orchestrator.bus.request(routes.taskCancel, { taskId: id }, team);
});

it('jobs that become dead letters close their passes as failed: the breaker opens, nothing is hidden, and the task goes on', async () => {
  const id = await overfull();
  const closed: string[] = [];
  for (const streamSeq of [1, 2, 3]) {
    const passId = await eventually(() => openPass(id, closed));
    const letter = {
      stream: 's',
      consumer: 'compactor',
      streamSeq,
      subject: routes.compactionRun.subject,
      route: routes.compactionRun.name,
      body: toBinary(compaction.RunRequestSchema, create(compaction.RunRequestSchema, { taskId: id, passId, generation: 0 })),
      reason: 'five deliveries',
      deliveries: 6,
    };
    // A put that is repeated after a crash closes nothing twice.
    await orchestrator.bus.request(routes.deadletterPut, letter, team);
    await orchestrator.bus.request(routes.deadletterPut, letter, team);
    closed.push(passId);
  }
  const done = await until(id, TaskState.COMPLETED);
  expect(done).toMatchObject({ generation: 0, breaker: { failures: 3, open: true } });
  const { generations } = await orchestrator.bus.request(routes.taskGenerations, { taskId: id }, team);
  expect(generations.filter(({ generation }) => generation > 0)).toEqual([]);
  const finished = (await eventsOf(id)).filter(({ kind }) => kind === 'compaction_finished');
  expect(finished.map(({ dataJson }) => JSON.parse(dataJson) as object)).toMatchObject(
    closed.map((passId) => ({ passId, outcome: 'failed', detail: 'dead letter: five deliveries', generation: 0 })),
  );
});

it('a worker that comes late does the pass that waited, once', async () => {
  ScriptedCompactor.reset();
  const id = await overfull();
  services.push(await startScripted(nats.url, 'compactor', [ScriptedCompactor]));
  expect(await until(id, TaskState.COMPLETED)).toMatchObject({ generation: 1 });
  expect(ScriptedCompactor.jobs.filter(({ run }) => run.taskId === id)).toHaveLength(1);
});
