import { startService } from '@nightshift/bus';
import type { RunningService } from '@nightshift/bus';
import { routes, task } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { ScriptedGateway, call, says, shown } from './scripted/scripted-gateway';
import { ScriptedRunner } from './scripted/scripted-runner';
import { publishWindows, startGateway, startRunner } from './scripted/scripted-services';
import { serviceOptions } from './service-options';

let orchestrator: RunningService;
let gateway: RunningService;
let runner: RunningService;

// Before the servers below: hooks run in the order they stand in.
afterAll(async () => {
  await Promise.all([gateway?.stop(), runner?.stop()]);
  await orchestrator?.stop();
});
const nats = withNats();
const database = withDatabase();

beforeAll(async () => {
  orchestrator = await startService(
    serviceOptions({
      NATS_URL: nats.url,
      DATABASE_URL: database.url,
      LOG_LEVEL: 'warn',
      METRICS_PORT: '0',
      LEASE_MS: '1500',
      ACK_WAIT_MS: '5000',
    }),
  );
  await publishWindows(orchestrator, { 'sim/primary': 200_000, 'sim/small': 16_384 });
  gateway = await startGateway(nats.url);
  runner = await startRunner(nats.url);
});

const team = { team: 'acme' };
async function start(over: Partial<task.CreateRequest> = {}): Promise<task.Task> {
  const reply = await orchestrator.bus.request(
    routes.taskCreate,
    {
      goal: 'Add a health check',
      chain: [{ provider: 'sim', model: 'primary' }],
      workspace: { directory: '/repos/app', mode: 'copy' },
      ...(over as object),
    },
    team,
  );
  return reply.task!;
}
const get = async (id: string): Promise<task.Task> =>
  (await orchestrator.bus.request(routes.taskGet, { taskId: id }, team)).task!;
const until = (id: string, state: task.TaskState): Promise<task.Task> =>
  eventually(async () => {
    const current = await get(id);
    if (current.state !== state) throw new Error(`state ${task.TaskState[current.state]} ${current.reason}`);
    return current;
  });

it('runs a task from its creation through model and tools to the end', async () => {
  ScriptedRunner.reset(({ tool }) => `result of ${tool}`);
  ScriptedGateway.reset((_request, number) => {
    if (number === 1)
      return says('Looking.', [
        call('list_files', {}),
        call('read_file', { path: 'a.ts' }),
        call('write_file', { path: 'b.ts', content: 'x' }),
      ]);
    if (number === 2)
      return says('', [
        call('mark_criterion', { id: 'c1', evidence: 'the write was confirmed' }),
        call('finish', { result: 'Added it.' }),
      ]);
    return says('more');
  });
  const created = await start({ criteria: ['b.ts exists'] });
  const done = await until(created.id, task.TaskState.COMPLETED);
  expect(done).toMatchObject({ result: 'Added it.', iterations: 2, toolCalls: 5, lastSeq: 8 });
  expect(ScriptedRunner.ran.map(({ tool }) => tool).sort()).toEqual(['list_files', 'read_file', 'write_file']);
  expect(shown(ScriptedGateway.requests[1]?.view)).toEqual([
    'user: Add a health check\n\nThe task is done when these criteria are met:\n[ ] c1: b.ts exists',
    'assistant: Looking.|list_files()|read_file()|write_file()',
    'results: result of list_files & result of read_file & result of write_file',
  ]);
  expect(ScriptedGateway.requests[0]?.view?.system).toContain('Use tabs.');
  const { events, ended } = await orchestrator.bus.request(routes.taskEvents, { taskId: created.id }, team);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
  expect(ended).toBe(true);
  expect(events.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining([
      'task_created',
      'workspace_opened',
      'model_call_started',
      'tool_started',
      'tool_finished',
      'entry_appended',
      'criterion_marked',
      'finished',
      'state_changed',
    ]),
  );
  const { entries } = await orchestrator.bus.request(routes.taskEntries, { taskId: created.id }, team);
  expect(entries.map(({ seq, body }) => `${seq} ${body.case}`)).toEqual([
    '1 user',
    '2 assistant',
    '3 toolResult',
    '4 toolResult',
    '5 toolResult',
    '6 assistant',
    '7 toolResult',
    '8 toolResult',
  ]);
});
