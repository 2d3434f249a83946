import { eventually, startStack, type RunningStack } from '@nightshift/testing';
import { serviceNames } from '@nightshift/contracts';
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

describe('windows', () => {
  let stack: RunningStack;

  beforeAll(async () => {
    const always = { when: {}, times: 'always', action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 3_600 } } };
    stack = await startStack({
      simulator: {
        models: {
          limited: { format: 'anthropic', window: 64_000, outputMax: 4_096, script: script(200), faults: [always] },
          wide: { format: 'openai-chat', window: 272_000, outputMax: 256_000, script: script(60_000, 'write_file') },
          routed: { format: 'openai-chat', window: 32_768, declaredWindow: 200_000, outputMax: 4_096, script: script(9_000) },
        },
        servers: {
          vllm: { kind: 'vllm', port: 0, models: { served: { window: 40_000, outputMax: 4_096, script: script(9_000) } } },
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

  it('a task goes on with the last known windows while registry, NATS and Postgres are killed one after another', async () => {
    const id = await start(stack, ['lab/served'], 'killed');
    await eventually(() => callsOf(stack, 'served').length > 0, patience);
    stack.service('model-registry').signal('SIGKILL');
    await stack.killNats();
    await stack.startNats();
    await stack.killPostgres();
    stack.service('model-registry').signal('SIGKILL');
    await stack.startPostgres();
    await stack.ready();
    await firstPass(stack, id);
    expect(new Set((await generationsOf(stack, id)).map((each) => each.window))).toEqual(new Set([40_000]));
  });
});
