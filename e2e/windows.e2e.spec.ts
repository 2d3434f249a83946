import { create } from '@bufbuild/protobuf';
import { Bus } from '@nightshift/bus';
import { llm, routes, serviceNames } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import { createLogger, createMetrics } from '@nightshift/metrics';
import { eventually, startStack, type RunningStack } from '@nightshift/testing';
import { makeWorkspace, submit, taskOf } from './small-task';

/** Three reported bugs that all ended in a wrong window, and the fourth of their kind, on the running services. */

interface Generation {
  generation: number;
  window: number;
  threshold: number;
  before: number;
  after: number;
}
interface ShownWindow {
  window: { provider: string; model: string; window: number; source: string; unknown: boolean; stale: boolean };
}
interface ModelLine {
  kind: string;
  model: string;
  status: number;
  input: number;
  requestedOutput?: number;
  window: number;
  purpose: string;
}

/** More calls than any of these tests waits for: what is looked at is the window, not the end. */
const script = (chars: number, tools = 'write_file,read_file'): object => ({
  name: 'quick',
  calls: 1_000,
  tools,
  chars,
  parallel: 1,
});
const key = { SIMULATOR_KEY: 'simulator-needs-no-secret' };
const patience = { timeoutMs: 100_000, everyMs: 200 };

async function start(stack: RunningStack, models: string[], name: string): Promise<string> {
  const workspace = { directory: makeWorkspace(stack, name), mode: 'in_place' };
  return (await submit(stack, { goal: 'Make the files and read them back.', models, workspace })).id;
}

/** Waits for the first pass of a task (or the first with this window) and ends the task. */
async function firstPass(stack: RunningStack, id: string, window?: number): Promise<Generation> {
  try {
    return await eventually(async () => {
      const { state, reason } = await taskOf(stack, id);
      if (['failed', 'paused', 'completed'].includes(state)) throw new Error(`the task is ${state}: ${reason}`);
      return (await generationsOf(stack, id)).find((each) => window === undefined || each.window === window);
    }, patience);
  } finally {
    await stack.api('POST', `/v1/tasks/${id}/cancel`);
  }
}

async function generationsOf(stack: RunningStack, id: string): Promise<Generation[]> {
  return ((await stack.api('GET', `/v1/tasks/${id}/generations`)).body as { generations: Generation[] }).generations;
}

async function shownWindow(stack: RunningStack, provider: string, model: string): Promise<ShownWindow['window'] | undefined> {
  const { body } = await stack.api('GET', `/v1/models?provider=${provider}`);
  return (body as { windows: ShownWindow[] }).windows.find((each) => each.window.model === model)?.window;
}

function callsOf(stack: RunningStack, model: string): ModelLine[] {
  return (stack.simulatorLog() as ModelLine[]).filter((line) => line.kind === 'model' && line.model === model);
}

async function setServer(stack: RunningStack, server: string, mode: object): Promise<void> {
  const response = await fetch(`${stack.simulator.base}/_simulator/server`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ server, set: mode }),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

async function restartEverything(stack: RunningStack): Promise<void> {
  const pids = serviceNames.map((service) => stack.service(service).pid());
  for (const service of serviceNames) stack.service(service).signal('SIGTERM');
  await stack.killNats();
  await stack.killPostgres();
  await eventually(() => serviceNames.every((service, index) => stack.service(service).pid() !== pids[index]), {
    timeoutMs: 30_000,
  });
  await Promise.all([stack.startNats(), stack.startPostgres()]);
  await stack.ready();
}

function ordersOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first) => ordersOf(items.filter((each) => each !== first)).map((rest) => [first, ...rest]));
}

async function connect(stack: RunningStack, service: 'api' | 'orchestrator'): Promise<Bus> {
  const logger = createLogger({ service: 'e2e', level: 'silent' });
  const options = { url: stack.natsUrl, service, instance: 'e2e', ackWaitMs: 5_000, onDrift: 'fail' } as const;
  return Bus.connect(options, createMetrics(service), logger);
}

/** A task below another one, as an agent that hands work on makes it: with a model of its own. */
async function startBelow(
  stack: RunningStack,
  parentId: string,
  candidate: { provider: string; model: string },
): Promise<string> {
  const pool = new Pool({ connectionString: stack.databaseUrl, max: 1 });
  const bus = await connect(stack, 'api');
  try {
    const { rows } = await pool.query<{ team_id: string }>('SELECT team_id FROM tasks WHERE id = $1', [parentId]);
    const workspace = { directory: makeWorkspace(stack, `below-${parentId}`), mode: 'in_place' };
    const request = { goal: 'Make the files and read them back.', chain: [candidate], parentId, workspace };
    const reply = await bus.request(routes.taskCreate, request, { team: rows[0]?.team_id ?? '' });
    return reply.task?.id ?? '';
  } finally {
    await bus.close();
    await pool.end();
  }
}

describe('windows', () => {
  let stack: RunningStack;

  beforeAll(async () => {
    const always = { when: {}, times: 'always', action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 3_600 } } };
    const cut = { when: { inputAbove: 5_000 }, action: { kind: 'silent_truncation', servedTokens: 4_096 } };
    stack = await startStack({
      simulator: {
        models: {
          limited: { format: 'anthropic', window: 64_000, outputMax: 4_096, script: script(200), faults: [always] },
          wide: { format: 'openai-chat', window: 272_000, outputMax: 256_000, script: script(60_000, 'write_file') },
          // Drops what does not fit into 4 096 tokens without a word, as some servers do by default.
          cutting: { format: 'openai-chat', window: 64_000, outputMax: 4_096, script: script(1_500), faults: [cut] },
          routed: { format: 'openai-chat', window: 32_768, declaredWindow: 200_000, outputMax: 4_096, script: script(9_000) },
        },
        servers: {
          vllm: {
            kind: 'vllm',
            port: 0,
            models: {
              served: { window: 40_000, outputMax: 4_096, script: script(9_000) },
              smaller: { window: 24_000, outputMax: 4_096, script: script(4_000) },
            },
          },
          ollama: {
            kind: 'ollama',
            port: 0,
            mode: { mode: 'hostile', body: 'html' },
            models: { 'llama3:latest': { window: 24_000, script: script(4_000), facts: { trained: 131_072 } } },
          },
        },
      },
      file: ({ base, servers }) => `
providers:
  primary: { vendor: anthropic-compatible, base_url: "${base}/anthropic", api_key_env: SIMULATOR_KEY, models: { limited: { window: 64000, output_max: 4096 } } }
  cloud: { vendor: openai-compatible, base_url: "${base}/openai/v1", api_key_env: SIMULATOR_KEY, models: { wide: { window: 272000, output_max: 256000 } } }
  router: { vendor: openrouter, base_url: "${base}/openrouter/api/v1", api_key_env: SIMULATOR_KEY }
  lab: { vendor: vllm, base_url: "${servers['vllm']}/v1" }
  home: { vendor: ollama, base_url: "${servers['ollama']}" }
chains: { default: [primary/limited, lab/served] }
`,
      env: { 'provider-gateway': key },
    });
  });
  afterAll(() => stack?.stop());

  it('1: a fallback without an entry of its own uses the window its server serves, not the one of the primary', async () => {
    await eventually(async () => (await shownWindow(stack, 'lab', 'served'))?.window === 40_000, { everyMs: 200 });
    const id = await start(stack, ['primary/limited', 'lab/served'], 'fallback');
    expect(await firstPass(stack, id)).toMatchObject({ window: 40_000, threshold: 20_000 });
    expect((await taskOf(stack, id)).model).toBe('served');
    expect(callsOf(stack, 'served').filter((line) => line.status !== 200)).toEqual([]);
  });

  it('1: tasks side by side and a task below another each use the window of their own model', async () => {
    const parent = await start(stack, ['lab/served'], 'tab-1');
    const [other, child] = await Promise.all([
      start(stack, ['lab/smaller'], 'tab-2'),
      startBelow(stack, parent, { provider: 'lab', model: 'smaller' }),
    ]);
    // The one below first: whoever ends the upper task ends it, too.
    const passes = [await firstPass(stack, child), await firstPass(stack, other), await firstPass(stack, parent)];
    expect(passes.map(({ window }) => window)).toEqual([24_000, 24_000, 40_000]);
  });

  it('2: an Ollama window that arrives late takes effect on the running task, and survives a restart of everything', async () => {
    expect((await shownWindow(stack, 'home', 'llama3:latest'))?.unknown ?? true).toBe(true);
    const id = await start(stack, ['home/llama3:latest'], 'late');
    await eventually(() => callsOf(stack, 'llama3:latest').length >= 3, patience);
    await setServer(stack, 'ollama', { mode: 'up' });
    expect(await firstPass(stack, id, 24_000)).toMatchObject({ window: 24_000 });

    await setServer(stack, 'ollama', { mode: 'hostile', body: 'html' });
    await restartEverything(stack);
    expect(await shownWindow(stack, 'home', 'llama3:latest')).toMatchObject({ window: 24_000, source: 'served', unknown: false });
  });

  it('3: 272K with 256K output compacts at 128 000, and the provider never refuses a call', async () => {
    const pass = await firstPass(stack, await start(stack, ['cloud/wide'], 'wide'));
    expect(pass).toMatchObject({ window: 272_000, threshold: 128_000 });
    expect(pass.before).toBeGreaterThanOrEqual(128_000);
    const calls = callsOf(stack, 'wide');
    expect(calls.filter((line) => line.status !== 200)).toEqual([]);
    expect(Math.max(...calls.map((line) => line.input + (line.requestedOutput ?? 0)))).toBeLessThanOrEqual(272_000);
  });

  it('3: at 127 999 measured tokens the strict provider accepts what is asked for', async () => {
    const bus = await connect(stack, 'orchestrator');
    try {
      const ask = (words: number, measuredInputTokens: number, maxOutputTokens: number): Promise<llm.CompleteReply> => {
        const parts = [{ kind: { case: 'text' as const, value: 'word '.repeat(words) } }];
        const view = { messages: [{ body: { case: 'user' as const, value: { parts } } }] };
        const chain = [{ provider: 'cloud', model: 'wide' }];
        const call = { taskId: 'measured', epoch: words, purpose: 'turn', view, chain, measuredInputTokens, maxOutputTokens };
        return bus.request(routes.llmComplete, create(llm.CompleteRequestSchema, call), { team: 'e2e', deadlineMs: 60_000 });
      };
      const beside = ((await ask(1_000, 1_000, 100)).usage?.inputTotal ?? NaN) - 1_000;
      const reply = await ask(127_999 - beside, 127_999, 256_000);
      expect(reply.usage?.inputTotal).toBe(127_999);
      expect(reply.outputTokensSent).toBeGreaterThan(128_000);
      expect(127_999 + reply.outputTokensSent).toBeLessThanOrEqual(272_000);
      // The provider is as strict as that: the whole output beside the same input is refused.
      const refused = await fetch(`${stack.simulator.base}/openai/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key.SIMULATOR_KEY}` },
        body: JSON.stringify({
          model: 'wide',
          max_completion_tokens: 256_000,
          messages: [{ role: 'user', content: 'word '.repeat(127_999 - beside) }],
        }),
      });
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('context_length_exceeded')]);
    } finally {
      await bus.close();
    }
  });

  it('4: a router that declares 200K and serves 32K is learned from one error, and never asked too much again', async () => {
    await eventually(async () => (await shownWindow(stack, 'router', 'routed'))?.window === 200_000, { everyMs: 200 });
    const refused = (): number => callsOf(stack, 'routed').filter((line) => line.status === 400).length;
    const pass = await firstPass(stack, await start(stack, ['router/routed'], 'routed'));
    expect([pass.window, refused()]).toEqual([32_768, 1]);
    expect(await shownWindow(stack, 'router', 'routed')).toMatchObject({ window: 32_768, source: 'learned' });

    await restartEverything(stack);
    expect(await shownWindow(stack, 'router', 'routed')).toMatchObject({ window: 32_768, source: 'learned' });
    const again = await firstPass(stack, await start(stack, ['router/routed'], 'routed-again'));
    expect([again.window, refused()]).toEqual([32_768, 1]);
  });

  it('an answer whose input was cut without a word is flagged, teaches the window, and leads to a pass for it', async () => {
    const pass = await firstPass(stack, await start(stack, ['cloud/cutting'], 'cutting'));
    expect(pass).toMatchObject({ window: 4_096 });
    expect(await shownWindow(stack, 'cloud', 'cutting')).toMatchObject({ window: 4_096, source: 'learned' });
    const metrics = await (await fetch(`${stack.operationsUrl('provider-gateway')}/metrics`)).text();
    expect(metrics).toMatch(/nightshift_provider_silent_truncations_total\{provider="cloud"\} [1-9]/);
  });

  it('a task goes on with the last known windows while registry, NATS and Postgres are killed, in any order', async () => {
    const id = await start(stack, ['lab/served'], 'killed');
    await eventually(() => callsOf(stack, 'served').length > 0, patience);
    const kill = {
      registry: () => Promise.resolve(stack.service('model-registry').signal('SIGKILL')),
      nats: () => stack.killNats(),
      postgres: () => stack.killPostgres(),
    };
    for (const order of ordersOf(['registry', 'nats', 'postgres'] as const)) {
      for (const each of order) await kill[each]();
      await Promise.all([stack.startNats(), stack.startPostgres()]);
      await stack.ready();
      expect([order, (await shownWindow(stack, 'lab', 'served'))?.window]).toEqual([order, 40_000]);
    }
    await firstPass(stack, id);
    expect(new Set((await generationsOf(stack, id)).map((each) => each.window))).toEqual(new Set([40_000]));
  });
});
