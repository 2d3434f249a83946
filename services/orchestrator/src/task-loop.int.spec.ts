import { NightshiftError, routes, task, transcript } from '@nightshift/contracts';
import { eventually, withDatabase, withNats } from '@nightshift/testing';
import { ScriptedGateway, call, says, shown } from './scripted/scripted-gateway';
import type { Reply } from './scripted/scripted-gateway';
import { ScriptedRunner } from './scripted/scripted-runner';
import { ScriptedWorld, team } from './scripted/scripted-world';

const { TaskState } = task;
const world = new ScriptedWorld();
// Before the servers below: hooks run in the order they stand in.
afterAll(() => world.stop());
const nats = withNats();
const database = withDatabase();
beforeAll(() => world.start(nats.url, database.url));
const until = (id: string, state: task.TaskState): Promise<task.Task> => eventually(() => world.expectState(id, state));
const finish = [call('finish', { result: 'Done.' })];

it('runs a task from its creation through model and tools to the end', async () => {
  ScriptedRunner.reset(({ tool }) => `result of ${tool}`);
  ScriptedGateway.reset((_request, number) =>
    number === 1
      ? says('Looking.', [
          call('list_files', {}),
          call('read_file', { path: 'a.ts' }),
          call('write_file', { path: 'b.ts', content: 'x' }),
        ])
      : says('', [
          call('mark_criterion', { id: 'c1', evidence: 'the write was confirmed' }),
          call('finish', { result: 'Added it.' }),
        ]),
  );
  const created = await world.create({ criteria: ['b.ts exists'] });
  const done = await until(created.id, TaskState.COMPLETED);
  expect(done).toMatchObject({ result: 'Added it.', iterations: 2, toolCalls: 5, lastSeq: 8 });
  expect(ScriptedRunner.ran.map(({ tool }) => tool).sort()).toEqual(['list_files', 'read_file', 'write_file']);
  expect(shown(ScriptedGateway.requests[1]?.view)).toEqual([
    'user: Add a health check\n\nThe task is done when these criteria are met:\n[ ] c1: b.ts exists',
    'assistant: Looking.|list_files()|read_file()|write_file()',
    'results: result of list_files & result of read_file & result of write_file',
  ]);
  expect(ScriptedGateway.requests[0]?.view?.system).toContain('Use tabs.');
  const { events, ended } = await world.orchestrator.bus.request(routes.taskEvents, { taskId: created.id }, team);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1));
  expect(ended).toBe(true);
  const { entries } = await world.orchestrator.bus.request(routes.taskEntries, { taskId: created.id }, team);
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

it('the same idempotency key is the same task, and another request under it is a conflict', async () => {
  ScriptedGateway.reset(() => says('', finish));
  const first = await world.create({ idempotencyKey: 'k1' });
  expect((await world.create({ idempotencyKey: 'k1' })).id).toBe(first.id);
  await expect(world.create({ idempotencyKey: 'k1', goal: 'Something else' })).rejects.toMatchObject({ code: 'CONFLICT' });
  await until(first.id, TaskState.COMPLETED);
});

it('another team’s task is unknown', async () => {
  ScriptedGateway.reset(() => says('', finish));
  const { id } = await world.create();
  await expect(world.orchestrator.bus.request(routes.taskGet, { taskId: id }, { team: 'other' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await expect(world.orchestrator.bus.request(routes.taskCancel, { taskId: id }, { team: 'other' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
  await until(id, TaskState.COMPLETED);
});

it('sixteen parallel reads come back in the order of their calls', async () => {
  ScriptedRunner.reset(async ({ args }) => {
    const { path } = args as { path: string };
    await new Promise((resolve) => setTimeout(resolve, Number(path) % 5));
    return `content of ${path}`;
  });
  const reads = Array.from({ length: 16 }, (_value, index) => call('read_file', { path: `${index}` }));
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', reads) : says('', finish)));
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  expect(shown(ScriptedGateway.requests[1]?.view).at(-1)).toBe(
    `results: ${reads.map((_read, index) => `content of ${index}`).join(' & ')}`,
  );
  expect(ScriptedRunner.ran).toHaveLength(16);
});

it('a bad call comes back to the model at once, and never reaches a runner', async () => {
  ScriptedRunner.reset(() => 'x');
  ScriptedGateway.reset((_request, number) =>
    number === 1 ? says('', [call('fly', {}), call('read_file', { file: 'a' })]) : says('', finish),
  );
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  expect(shown(ScriptedGateway.requests[1]?.view).at(-1)).toMatch(
    /There is no tool "fly".* & The arguments of read_file are wrong/,
  );
  expect(ScriptedRunner.ran).toEqual([]);
});

it('finish is refused while criteria are open', async () => {
  ScriptedGateway.reset((_request, number) =>
    number === 1 ? says('', finish) : says('', [call('mark_criterion', { id: 'c1', evidence: 'checked it by hand' }), ...finish]),
  );
  const { id } = await world.create({ criteria: ['it works'] });
  expect(await until(id, TaskState.COMPLETED)).toMatchObject({ iterations: 2 });
  expect(shown(ScriptedGateway.requests[1]?.view).at(-1)).toContain('Not finished: 1 of 1 criteria are open');
});

it('a question parks the task until the answer, which the model reads next', async () => {
  ScriptedGateway.reset((_request, number) =>
    number === 1 ? says('', [call('ask_user', { question: 'Which port?' })]) : says('', finish),
  );
  const { id } = await world.create();
  expect(await until(id, TaskState.WAITING)).toMatchObject({ question: 'Which port?', pending: task.Pending.USER });
  await world.send(id, '8080');
  expect(await until(id, TaskState.COMPLETED)).toMatchObject({ question: '' });
  expect(shown(ScriptedGateway.requests[1]?.view).slice(-2)).toEqual([
    'results: The question was put to the user. The answer follows as the next user message.',
    'user: 8080',
  ]);
});

it('messages sent while a tool runs are delivered in order before the next model call', async () => {
  let sent: Promise<unknown> = Promise.resolve();
  ScriptedRunner.reset(async (_call, taskId) => {
    sent = (async () => {
      await world.send(taskId, 'first');
      await world.send(taskId, 'second');
    })();
    await sent;
    return 'read';
  });
  ScriptedGateway.reset((_request, number) => (number === 1 ? says('', [call('read_file', { path: 'a' })]) : says('', finish)));
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  expect(shown(ScriptedGateway.requests[1]?.view).slice(-3)).toEqual(['results: read', 'user: first', 'user: second']);
});

it('an answer cut by length gets the doubled budget once, then continuations', async () => {
  const cut = (text: string): Reply => says(text, [], { stop: transcript.StopReason.LENGTH });
  ScriptedGateway.reset((_request, number) =>
    number === 1 ? cut('gone') : number === 2 ? cut('part one') : says('part two', finish),
  );
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  expect(ScriptedGateway.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([0, 8_192, 8_192]);
  expect(shown(ScriptedGateway.requests[2]?.view).slice(1)).toEqual([
    'assistant: part one',
    'user: [platform notice: output_cut] Your output was cut at its length limit. Go on exactly where it stopped. Make long files in several smaller calls.',
  ]);
});

it('a model that says "not now" is asked again by a timer', async () => {
  ScriptedGateway.reset((_request, number) => {
    if (number === 1) throw new NightshiftError('PROVIDER_RATE_LIMITED', 'slow down', { retryAfterMs: 100 });
    return says('', finish);
  });
  const { id } = await world.create();
  await until(id, TaskState.COMPLETED);
  expect(await world.kinds(id)).toContain('model_call_failed');
});

it('a task whose prompt can never fit is refused at submission with its sizes', async () => {
  await expect(
    world.create({
      goal: 'word '.repeat(1),
      chain: [{ provider: 'sim', model: 'small' }] as never,
      options: { system: 'rule. '.repeat(20_000) } as never,
    }),
  ).rejects.toMatchObject({
    code: 'CONTEXT_IRREDUCIBLE',
    message: expect.stringMatching(/system prompt \d+/),
  });
});
