import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { serviceNames } from '@nightshift/contracts';
import { createPool } from '@nightshift/db';
import { eventually, startStack, type RunningStack } from '@nightshift/testing';
import { report, runToEnd } from './report';

/**
 * What one tool call of a task costs in every process, as CPU time: the figure that docs/operations.md extrapolates from. CPU
 * time, unlike calls per second, hardly depends on who else uses the machine.
 */
const tasks = 16;
const calls = 60;
/** Kernel ticks per second in /proc; fixed at 100 for user space. */
const ticks = 100;
const script = { name: 'quick', calls, tools: 'write_file,read_file', chars: 4_000 };

/** CPU seconds of a process and its children, Linux only. */
function cpuOf(pid: number): number {
  let sum = 0;
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(Number(name));
    if (fields && (Number(name) === pid || fields.parent === pid)) sum += fields.seconds;
  }
  return sum;
}

function statOf(pid: number): { parent: number; seconds: number; command: string } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // It ended between the listing and the look.
    return undefined;
  }
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const [user, system, ended, endedSystem] = [11, 12, 13, 14].map((index) => Number(fields[index]));
  return {
    parent: Number(fields[1]),
    seconds: ((user ?? 0) + (system ?? 0) + (ended ?? 0) + (endedSystem ?? 0)) / ticks,
    command: text.slice(text.indexOf('(') + 1, close),
  };
}

function childNamed(command: string): number {
  const found = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .find((pid) => statOf(pid)?.parent === process.pid && statOf(pid)?.command === command);
  return found ?? 0;
}

function startSimulated(): Promise<RunningStack> {
  return startStack({
    simulator: { models: { large: { format: 'anthropic', window: 200_000, outputMax: 8_192, script } } },
    file: ({ base }) => `
providers:
  sim:
    vendor: anthropic-compatible
    base_url: ${base}/anthropic
    api_key_env: SIMULATOR_KEY
    max_concurrency: 256
    models: { large: { window: 200000, output_max: 8192 } }
chains:
  default: [sim/large]
`,
    env: { 'provider-gateway': { SIMULATOR_KEY: 'simulator-needs-no-secret' }, all: { LOG_LEVEL: 'warn' } },
  });
}

async function runTasks(stack: RunningStack, name: string, count: number): Promise<number> {
  const startedAt = performance.now();
  const ids = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const directory = path.join(stack.folder, 'repositories', `${name}-${index}`);
      mkdirSync(directory, { recursive: true });
      const body = { goal: `Task ${index}`, criteria: ['done'], workspace: { directory, mode: 'in_place' } };
      return ((await stack.api('POST', '/v1/tasks', body)).body as { id: string }).id;
    }),
  );
  for (const id of ids)
    await eventually(
      async () => {
        const { state } = (await stack.api('GET', `/v1/tasks/${id}`)).body as { state: string };
        if (['failed', 'paused', 'cancelled'].includes(state)) throw new Error(`${id} is ${state}`);
        return state === 'completed';
      },
      { timeoutMs: 600_000, everyMs: 500 },
    );
  return (performance.now() - startedAt) / 1000;
}

async function main(): Promise<void> {
  const stack = await startSimulated();
  const pool = createPool({ DATABASE_URL: stack.databaseUrl, DATABASE_POOL_SIZE: 1 });
  const bytes = async (): Promise<number> =>
    Number((await pool.query<{ size: string }>('select pg_database_size(current_database())::text as size')).rows[0]?.size);
  const jsz = async (): Promise<{ messages: number; api: { total: number } }> =>
    (await (await fetch(`${stack.natsMonitorUrl}/jsz`)).json()) as { messages: number; api: { total: number } };
  try {
    await runTasks(stack, 'warm', 4);
    const pids: [string, number][] = [
      ...serviceNames.map((name): [string, number] => [name, stack.service(name).pid()]),
      ['postgres', childNamed('postgres')],
      ['nats', childNamed('nats-server')],
    ];
    const before = new Map(pids.map(([name, pid]) => [name, cpuOf(pid)]));
    const [bytesBefore, varzBefore] = [await bytes(), await varz(stack)];
    const seconds = await runTasks(stack, 'measured', tasks);
    const total = tasks * calls;
    const varzAfter = await varz(stack);
    const figures: Record<string, number | string> = {
      'tool calls': total,
      'tool calls/s (one of everything, shared machine)': total / seconds,
    };
    let sum = 0;
    for (const [name, pid] of pids) {
      const ms = ((cpuOf(pid) - (before.get(name) ?? 0)) * 1000) / total;
      sum += ms;
      figures[`CPU ms per tool call: ${name}`] = ms;
    }
    figures['CPU ms per tool call: all'] = sum;
    figures['NATS messages per tool call'] = (varzAfter.in_msgs - varzBefore.in_msgs) / total;
    figures['NATS bytes per tool call'] = (varzAfter.in_bytes - varzBefore.in_bytes) / total;
    figures['Postgres bytes per tool call'] = ((await bytes()) - bytesBefore) / total;
    figures['messages left in streams'] = (await jsz()).messages;
    report('capacity', figures, {});
  } finally {
    await pool.end();
    await stack.stop();
  }
}

async function varz(stack: RunningStack): Promise<{ in_msgs: number; in_bytes: number }> {
  return (await (await fetch(`${stack.natsMonitorUrl}/varz`)).json()) as { in_msgs: number; in_bytes: number };
}

runToEnd(main);
