import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import type { RunningStack } from '@nightshift/testing';
import { eventsOf, makeWorkspace, startSmallStack, submit, untilEnded, type Task, type TaskEvent } from './small-task';

/** docs/architecture.md, "One task, followed through": the same steps in the same order, on the running services. */
describe('one task, followed through', () => {
  let stack: RunningStack;
  let task: Task;
  let events: TaskEvent[];
  let directory: string;
  const calls = 24;

  beforeAll(async () => {
    const rateLimit = {
      when: { requestsFrom: 20 },
      times: 1,
      action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 60 } },
    };
    stack = await startSmallStack({ calls, tools: 'write_file,read_file', chars: 9_000, window: 32_000, faults: [rateLimit] });
    directory = makeWorkspace(stack, 'spine');
    const body = {
      goal: 'Make the files and read them back.',
      criteria: ['every call was made'],
      workspace: { directory, mode: 'in_place' },
    };
    task = await untilEnded(stack, (await submit(stack, body)).id);
    events = await eventsOf(stack, task.id);
  });
  afterAll(() => stack?.stop());

  const kinds = () => events.map(({ kind }) => kind);
  const first = (kind: string) => kinds().indexOf(kind);

  it('ends completed, with its criteria closed by evidence', () => {
    expect({
      state: task.state,
      reason: task.reason,
      open: task.criteria.filter(({ done, evidence }) => !done || evidence === ''),
    }).toEqual({ state: 'completed', reason: expect.anything(), open: [] });
    expect(task.toolCalls).toBeGreaterThanOrEqual(calls);
  });

  it('numbers its events without a gap', () => {
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('goes through submission, model call, tools, threshold, compaction and finish in this order', () => {
    const order = [
      'task_created',
      'model_call_started',
      'tool_started',
      'tool_finished',
      'threshold_hit',
      'compaction_started',
      'compaction_finished',
    ];
    expect(order.map((kind) => [kind, first(kind) >= 0])).toEqual(order.map((kind) => [kind, true]));
    expect(order.map(first)).toEqual([...order.map(first)].sort((a, b) => a - b));
    expect(kinds().at(-1)).toBe('state_changed');
  });

  it('moves to the fallback on the rate limit and stays there', () => {
    expect(kinds().filter((kind) => kind === 'fallback').length).toBe(1);
    expect(task.model).toBe('simulator-large');
  });

  it('compacts with the window of the model in use, and every pass makes the view smaller', async () => {
    const { body } = await stack.api('GET', `/v1/tasks/${task.id}/generations`);
    const { generations } = body as {
      generations: { before: number; after: number; window: number; threshold: number; outcome: string; tiers: unknown[] }[];
    };
    expect(generations.length).toBeGreaterThanOrEqual(1);
    expect(task.thresholdHits).toBe(generations.length);
    expect(generations[0]).toMatchObject({ window: 32_000, threshold: 16_000 });
    for (const { before, after, tiers } of generations) {
      expect(after).toBeLessThan(before);
      expect(tiers.length).toBeGreaterThan(0);
    }
  });

  it('did the real work once', () => {
    const files = readdirSync(directory).filter((name) => name.startsWith('quick-'));
    expect(files.length).toBe(calls / 2);
    expect(existsSync(path.join(directory, 'quick-0.txt'))).toBe(true);
  });

  it('shows the same figures in /metrics as in the task', async () => {
    const text = await (await fetch(`${stack.operationsUrl('orchestrator')}/metrics`)).text();
    const sum = (name: string) =>
      text
        .split('\n')
        .filter((line) => line.startsWith(`nightshift_${name}{`) || line.startsWith(`nightshift_${name} `))
        .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    expect(sum('compaction_threshold_hits_total')).toBe(task.thresholdHits);
    expect(sum('task_tool_calls_total')).toBeGreaterThanOrEqual(calls);
  });

  it('hides the task from another team on every route, as if it did not exist', async () => {
    const token = `nsk_${randomBytes(32).toString('base64url')}`;
    const database = new Client({ connectionString: stack.databaseUrl });
    await database.connect();
    try {
      await database.query(`insert into teams (id, name, created_at_ms) values ('other', 'other', 0)`);
      const hash = createHash('sha256').update(token).digest('hex');
      await database.query(
        `insert into api_keys (team_id, id, name, prefix, hash, role, created_at_ms) values ('other', 'k', 'k', 'nsk_', $1, 'admin', 0)`,
        [hash],
      );
    } finally {
      await database.end();
    }
    const { body } = await stack.api('GET', '/openapi.json', undefined, token);
    const { paths } = body as { paths: Record<string, Record<string, unknown>> };
    const routes = Object.entries(paths).flatMap(([route, methods]) =>
      route.includes('/tasks/{id}') ? Object.keys(methods).map((method) => ({ method: method.toUpperCase(), route })) : [],
    );
    expect(routes.length).toBeGreaterThan(10);
    for (const { method, route } of routes) {
      const concrete = route.replace('{id}', task.id).replaceAll(/\{\w+\}/g, 'x');
      const sent = method === 'GET' ? undefined : concrete.endsWith('/messages') ? { text: 'hello' } : {};
      expect([method, route, (await stack.api(method, concrete, sent, token)).status]).toEqual([method, route, 404]);
    }
    expect((await stack.api('GET', '/v1/tasks', undefined, token)).body).toMatchObject({ tasks: [] });
  });

  it('tells a wrong key, an unknown task, a faulty body and a body that is too large apart', async () => {
    expect((await stack.api('GET', `/v1/tasks/${task.id}`, undefined, 'nsk_wrong')).status).toBe(401);
    expect((await stack.api('GET', '/v1/tasks/unknown')).status).toBe(404);
    const faulty = await stack.api('POST', '/v1/tasks', { goal: '', criteria: [1], surprise: true });
    expect(faulty.status).toBe(400);
    expect((faulty.body as { faults: string[] }).faults.length).toBeGreaterThanOrEqual(3);
    const large = await stack.api('POST', '/v1/tasks', { goal: 'x'.repeat(9_000_000) });
    expect([large.status, JSON.stringify(large.body)]).toEqual([413, expect.stringMatching(/\d/)]);
  });
});
