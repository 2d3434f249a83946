import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bus } from '@nightshift/bus';
import { routes, task } from '@nightshift/contracts';
import { createPool, transaction, type Pool } from '@nightshift/db';
import { createLogger, createMetrics } from '@nightshift/metrics';
import { eventually, startStack, type RunningStack } from '@nightshift/testing';
import { goal, percentile, report, runToEnd } from './report';

/**
 * The time that the platform adds to one turn of a task: from the request of one model call to the request of the next, as the
 * model saw them, less what the model took and what the tool took. Beside it, in the same run, what no design could do without:
 * one round trip on NATS, one transaction, one HTTP call with the same view. Then many tasks at once against a slow model.
 */
const sizes = [32, 400] as const;
/** A goal may have 200 000 characters; the rest of a larger view comes as a message, before the first calls. */
const goalMaxKb = 190;
const turnsPerTask = 53;
const tasksPerSize = 10;
const bareRounds = 520;
const load = { tasks: 1_000, turns: 5, latencyMs: 2_000, kb: 32, withinSeconds: 120 };

const filler = (kb: number): string =>
  'The quick brown fox jumps over the lazy dog and reads the whole file. '
    .repeat(Math.ceil((kb * 1024) / 70))
    .slice(0, kb * 1024);

function startBenchStack(): Promise<RunningStack> {
  const model = { format: 'anthropic', window: 1_000_000, outputMax: 8_192 };
  const quick = (calls: number) => ({ name: 'quick', calls, tools: 'read_file' });
  return startStack({
    simulator: {
      models: {
        fast: { ...model, script: quick(turnsPerTask) },
        slow: { ...model, script: quick(load.turns - 1), latency: { firstTokenMs: load.latencyMs } },
      },
      bench: { deltas: 1 },
    },
    file: ({ base }) => `
providers:
  sim:
    vendor: anthropic-compatible
    base_url: ${base}/anthropic
    api_key_env: SIMULATOR_KEY
    max_concurrency: 2000
    models: { fast: { window: 1000000, output_max: 8192 }, slow: { window: 1000000, output_max: 8192 } }
chains:
  default: [sim/fast]
`,
    env: { 'provider-gateway': { SIMULATOR_KEY: 'simulator-needs-no-secret' }, all: { LOG_LEVEL: 'warn' } },
  });
}

async function start(stack: RunningStack, name: string, model: string, kb: number): Promise<string> {
  const directory = path.join(stack.folder, 'repositories', name);
  mkdirSync(directory, { recursive: true });
  for (let call = 0; call < turnsPerTask; call++) writeFileSync(path.join(directory, `quick-${call - 1}.txt`), `call ${call}\n`);
  const goalKb = Math.min(kb, goalMaxKb);
  const body = { goal: `${name}: ${filler(goalKb)}`, models: [`sim/${model}`], workspace: { directory, mode: 'in_place' } };
  const { status, body: answer } = await stack.api('POST', '/v1/tasks', body);
  if (status !== 202) throw new Error(`POST /v1/tasks: ${status} ${JSON.stringify(answer)}`);
  const { id } = answer as { id: string };
  if (kb > goalKb) {
    const sent = await stack.api('POST', `/v1/tasks/${id}/messages`, { text: filler(kb - goalKb) });
    if (sent.status >= 300) throw new Error(`POST messages: ${sent.status} ${JSON.stringify(sent.body)}`);
  }
  return id;
}

async function untilEnded(pool: Pool, ids: readonly string[], timeoutMs: number): Promise<number> {
  let completed = 0;
  await eventually(
    async () => {
      const { rows } = await pool.query<{ ended: number; completed: number }>(
        `SELECT count(*) FILTER (WHERE ended_at IS NOT NULL)::int AS ended,
          count(*) FILTER (WHERE state = $2)::int AS completed FROM tasks WHERE id = ANY($1)`,
        [ids, task.TaskState.COMPLETED],
      );
      completed = rows[0]?.completed ?? 0;
      if ((rows[0]?.ended ?? 0) < ids.length) throw new Error(`${rows[0]?.ended ?? 0} of ${ids.length} tasks have ended`);
      return true;
    },
    { timeoutMs, everyMs: 250 },
  ).catch((error: unknown) => console.error(error));
  return completed;
}

interface Seen {
  readonly kind: string;
  readonly model: string;
  readonly at: string;
  readonly ms: number;
}

/** Milliseconds added by each turn of one task, run alone. */
async function added(stack: RunningStack, pool: Pool, name: string, kb: number): Promise<number[]> {
  const before = stack.simulatorLog().length;
  const id = await start(stack, name, 'fast', kb);
  if ((await untilEnded(pool, [id], 120_000)) !== 1) throw new Error(`${name} did not complete`);
  const calls = (stack.simulatorLog().slice(before) as Seen[]).filter(({ kind, model }) => kind === 'model' && model === 'fast');
  const { rows } = await pool.query<{ ms: number }>('SELECT ms FROM tool_calls WHERE task_id = $1 ORDER BY entry_seq', [id]);
  return calls.slice(1, turnsPerTask).map((call, index) => {
    const last = calls[index];
    return Date.parse(call.at) - Date.parse(last?.at ?? '') - (last?.ms ?? 0) - (rows[index]?.ms ?? 0);
  });
}

/** One round trip on NATS, one transaction, one HTTP call that carries a view of this size. */
async function bare(stack: RunningStack, pool: Pool, kb: number): Promise<number[]> {
  const bus = await Bus.connect(
    { url: stack.natsUrl, service: 'orchestrator', instance: 'bench', ackWaitMs: 30_000, onDrift: 'fail' },
    createMetrics('orchestrator'),
    createLogger({ service: 'bench', level: 'warn' }),
  );
  const request = JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: filler(kb) }], stream: false });
  await pool.query('CREATE TABLE IF NOT EXISTS bench_steps (id bigserial PRIMARY KEY, body text)');
  const times: number[] = [];
  for (let round = 0; round < bareRounds; round++) {
    const from = performance.now();
    await bus.request(routes.providerStatus, {}, { team: 'bench' });
    await transaction(pool, async (client) => {
      await client.query('INSERT INTO bench_steps (body) VALUES ($1)', ['one outcome']);
    });
    const answer = await fetch(`${stack.simulator.base}/bench/openai/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
      body: request,
    });
    await answer.text();
    times.push(performance.now() - from);
  }
  await bus.close();
  return times.slice(bareRounds - 500);
}

/** The largest resident size, in MB, while `run` runs. Linux only. */
async function peakOf<T>(pid: number, run: () => Promise<T>): Promise<{ peakMb: number; value: T }> {
  let peakMb = 0;
  const look = (): void => {
    const kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    peakMb = Math.max(peakMb, kb / 1024);
  };
  const timer = setInterval(look, 200);
  try {
    const value = await run();
    look();
    return { peakMb, value };
  } finally {
    clearInterval(timer);
  }
}

async function main(): Promise<void> {
  const stack = await startBenchStack();
  const pool = createPool({ DATABASE_URL: stack.databaseUrl, DATABASE_POOL_SIZE: 2 });
  const figures: Record<string, number | string> = {};
  const goals: Record<string, ReturnType<typeof goal>> = {};
  try {
    for (const kb of sizes) {
      await added(stack, pool, `warm-${kb}`, kb);
      const times: number[] = [];
      for (let index = 0; index < tasksPerSize; index++) times.push(...(await added(stack, pool, `steps-${kb}-${index}`, kb)));
      const limit = await bare(stack, pool, kb);
      figures[`turns measured at ${kb} KB`] = times.length;
      figures[`bare pipeline at ${kb} KB, p50 ms`] = percentile(limit, 0.5);
      figures[`bare pipeline at ${kb} KB, p99 ms`] = percentile(limit, 0.99);
      goals[`added per turn at ${kb} KB, p50 ms`] = goal(percentile(times, 0.5), '<=', kb === 32 ? 15 : 40);
      goals[`added per turn at ${kb} KB, p99 ms`] = goal(percentile(times, 0.99), '<=', 100);
      goals[`added / bare pipeline at ${kb} KB`] = goal(percentile(times, 0.5) / percentile(limit, 0.5), '<=', 2);
    }
    const { peakMb, value } = await peakOf(stack.service('orchestrator').pid(), async () => {
      const from = performance.now();
      const ids: string[] = [];
      for (let first = 0; first < load.tasks; first += 50)
        ids.push(
          ...(await Promise.all(Array.from({ length: 50 }, (_, i) => start(stack, `load-${first + i}`, 'slow', load.kb)))),
        );
      figures['load: seconds to submit'] = (performance.now() - from) / 1000;
      const completed = await untilEnded(pool, ids, 600_000);
      return { completed, seconds: (performance.now() - from) / 1000 };
    });
    goals[`load: seconds until ${load.tasks} tasks of ${load.turns} turns ended`] = goal(value.seconds, '<=', load.withinSeconds);
    goals['load: tasks lost'] = goal(load.tasks - value.completed, '<=', 0);
    goals['load: orchestrator peak RSS, MB'] = goal(peakMb, '<=', 600);
    report('steps', figures, goals);
  } finally {
    await pool.end();
    await stack.stop();
  }
}

runToEnd(main);
