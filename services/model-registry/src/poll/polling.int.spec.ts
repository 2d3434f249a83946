import type { RunningService } from '@nightshift/bus';
import { loadConfig, parseNightshiftFile } from '@nightshift/config';
import { routes } from '@nightshift/contracts';
import type { registry } from '@nightshift/contracts';
import { createPool } from '@nightshift/db';
import { createLogger } from '@nightshift/metrics';
import { startSimulator } from '@nightshift/model-simulator';
import type { Simulator, SimulatorConfigInput } from '@nightshift/model-simulator';
import { eventually, startServiceModule, withDatabase, withNats } from '@nightshift/testing';
import { settings } from '../config';
import { ModelRegistryModule } from '../model-registry.module';

const nats = withNats();
const database = withDatabase();
const team = { team: 'team-a' };
const kinds = ['ollama', 'lmstudio', 'vllm', 'sglang', 'llamacpp'] as const;
const perServer = 40;
/** A list of 200 windows asked for without a pause would leave no time to the servers in this process. */
const seldom = { timeoutMs: 20_000, everyMs: 300 };

let simulator: Simulator;
let service: RunningService;
const lines: { msg: string; provider?: string; state?: string; reason?: string }[] = [];

function models(count: number): Record<string, object> {
  const entries = Array.from({ length: count }, (_, index) => [
    `model-${index}`,
    { window: 8_192 + index, facts: { trained: 131_072, loaded: index % 2 === 0 } },
  ]);
  return Object.fromEntries(entries) as Record<string, object>;
}

beforeAll(async () => {
  const servers = kinds.map((kind) => [kind, { kind, port: 0, router: kind === 'llamacpp', models: models(perServer) }]);
  simulator = await startSimulator({ config: { servers: Object.fromEntries(servers) } as SimulatorConfigInput });
  const providers = kinds.map((kind) => `  ${kind}: { vendor: ${kind}, base_url: "${simulator.servers[kind]}" }`).join('\n');
  const config = loadConfig(settings, {
    DATABASE_URL: database.url,
    NATS_URL: nats.url,
    POLL_EVERY_MS: '400',
    POLL_TIMEOUT_MS: '900',
    POLL_MAX_BYTES: '500000',
    LEASE_RETRY_MS: '100',
  });
  service = await startServiceModule({
    service: 'model-registry',
    module: ModelRegistryModule.forRoot(
      config,
      parseNightshiftFile(`providers:\n${providers}`, 'nightshift.yaml'),
      createPool(config),
    ),
    natsUrl: nats.url,
    logger: createLogger({ service: 'model-registry', write: (line) => lines.push(JSON.parse(line) as (typeof lines)[number]) }),
  });
});
afterAll(async () => {
  await service.stop();
  await simulator.stop();
});

const list = (): Promise<registry.ListWindowsReply> => service.bus.request(routes.windowList, {}, team);
const stateOf = async (provider: string): Promise<string | undefined> =>
  (await list()).endpoints.find((each) => each.provider === provider)?.state;
const changesOf = (provider: string): (string | undefined)[] =>
  lines
    .filter((line) => line.msg === 'provider endpoint changed its state' && line.provider === provider)
    .map((line) => line.state);

async function setMode(server: string, mode: object): Promise<void> {
  const response = await fetch(`${simulator.url}/_simulator/server`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ server, set: mode }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
}

/** Waits for so many further looks at a server, answered or not. */
async function looksAt(provider: string, count: number): Promise<void> {
  const tries = new Set<bigint>();
  await eventually(async () => {
    tries.add((await list()).endpoints.find((each) => each.provider === provider)?.lastTryMs ?? 0n);
    return tries.size > count;
  }, seldom);
}

const pollsOf = (server: string, path: string): number =>
  simulator.polls().filter((each) => each.server === server && each.path.includes(path)).length;

describe('polling', () => {
  it('reads 200 models on five servers within their interval, served and trained apart, and loads none', async () => {
    await eventually(async () => {
      const { windows, endpoints } = await list();
      expect([windows.length, endpoints.map((each) => `${each.provider} ${each.state} ${each.reason}`)]).toEqual([
        kinds.length * perServer,
        kinds.map((kind) => `${kind} up `),
      ]);
      return true;
    }, seldom);
    const { windows } = await list();
    for (const { window } of windows.map((each) => ({ window: each.window }))) {
      const index = Number(window?.model.split('-')[1]);
      const alwaysLoaded = ['vllm', 'sglang'].includes(window?.provider ?? '');
      const known = alwaysLoaded || index % 2 === 0;
      expect([window?.provider, window?.model, window?.window, window?.unknown]).toEqual([
        window?.provider,
        window?.model,
        // SGLang states one context length for the whole server.
        window?.provider === 'sglang' ? 8_192 : known ? 8_192 + index : 32_000,
        !known,
      ]);
    }
    const state = (await (await fetch(`${simulator.url}/_simulator/state`)).json()) as object;
    expect(JSON.stringify(state)).not.toMatch(/"loads":[1-9]/);
    expect(simulator.requests()).toHaveLength(0);
  });

  it('goes on looking at every server at its interval', async () => {
    const before = kinds.map((kind) => simulator.polls().filter((each) => each.server === kind).length);
    await eventually(
      () => kinds.every((kind, index) => simulator.polls().filter((each) => each.server === kind).length > (before[index] ?? 0)),
      {
        timeoutMs: 4_000,
      },
    );
  });

  it.each([
    ['down', { mode: 'down' }, 'down'],
    ['silent', { mode: 'hang' }, 'down'],
    ['answering 500', { mode: 'status', status: 500 }, 'down'],
    ['answering 404', { mode: 'status', status: 404 }, 'refused'],
    ['sending HTML', { mode: 'hostile', body: 'html' }, 'refused'],
    ['sending half an answer', { mode: 'hostile', body: 'half_json' }, 'refused'],
    ['sending wrong types', { mode: 'hostile', body: 'wrong_types' }, undefined],
    ['sending an array', { mode: 'hostile', body: 'array' }, 'refused'],
    ['sending negative windows', { mode: 'hostile', body: 'negative' }, undefined],
    ['sending null everywhere', { mode: 'hostile', body: 'null_fields' }, undefined],
    ['sending a very deep answer', { mode: 'hostile', body: 'deep' }, 'refused'],
    ['sending 50 MB', { mode: 'huge' }, 'refused'],
    ['redirecting to another host', { mode: 'redirect', to: 'http://203.0.113.1/steal' }, 'refused'],
  ])(
    'keeps the last windows of a server that is %s, says so once, and takes it back when it recovers',
    async (_what, mode, state) => {
      await eventually(async () => (await stateOf('vllm')) === 'up');
      const changes = changesOf('vllm').length;
      const looked = pollsOf('vllm', '/v1/models');
      await setMode('vllm', mode);
      if (state) await eventually(async () => (await stateOf('vllm')) === state);
      else await eventually(() => pollsOf('vllm', '/v1/models') > looked + 1);
      // Two more looks: the state is told once, not at each of them.
      await looksAt('vllm', 2);
      expect(changesOf('vllm').slice(changes)).toEqual(state ? [state] : changesOf('vllm').slice(changes, changes + 1));
      const { windows } = await list();
      const kept = windows
        .filter((each) => each.window?.provider === 'vllm')
        .map((each) => [each.window?.model, each.window?.window]);
      expect(new Set(kept.map(String))).toEqual(
        new Set(Array.from({ length: perServer }, (_, index) => `model-${index},${8_192 + index}`)),
      );
      await setMode('vllm', { mode: 'up' });
      await eventually(async () => (await stateOf('vllm')) === 'up');
      expect(await stateOf('ollama')).toBe('up');
    },
  );

  it('shows a window as stale when its server has not answered for three intervals', async () => {
    await setMode('sglang', { mode: 'down' });
    const staleness = async (): Promise<boolean | undefined> =>
      (await list()).windows.find((each) => each.window?.provider === 'sglang')?.window?.stale;
    await eventually(async () => (await staleness()) === true, seldom);
    await setMode('sglang', { mode: 'up' });
    await eventually(async () => (await staleness()) === false, seldom);
  });
});
