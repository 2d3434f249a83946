import type { RunningService } from '@nightshift/bus';
import { loadConfig, parseNightshiftFile } from '@nightshift/config';
import { routes } from '@nightshift/contracts';
import type { compaction, registry } from '@nightshift/contracts';
import { createPool, schemaReady } from '@nightshift/db';
import type { Pool } from '@nightshift/db';
import { eventually, scriptedHttp, startServiceModule, withDatabase, withNats } from '@nightshift/testing';
import type { ScriptedHttp } from '@nightshift/testing';
import { WindowReader } from '@nightshift/windows';
import { settings } from './config';
import { ModelRegistryModule } from './model-registry.module';

const nats = withNats();
const database = withDatabase();
let ollama: ScriptedHttp;
let services: RunningService[] = [];
let readers: WindowReader[] = [];

beforeAll(async () => {
  ollama = await scriptedHttp();
});
afterAll(() => ollama.stop());
beforeEach(async () => {
  await database.pool.query('truncate model_windows, learned_limits, window_overrides, provider_endpoints');
  serve({ loaded: 4096 });
  ollama.seen.length = 0;
});
afterEach(async () => {
  for (const reader of readers) reader.stop();
  await Promise.all(services.map((service) => service.stop()));
  readers = [];
  services = [];
});

function serve(options: { loaded?: number }): void {
  ollama.answers = {
    'GET /api/tags': { models: [{ name: 'qwen3', digest: 'd1' }] },
    'GET /api/ps': { models: options.loaded ? [{ name: 'qwen3', context_length: options.loaded }] : [] },
    'POST /api/show': { model_info: { 'general.architecture': 'qwen3', 'qwen3.context_length': 40_960 } },
    'POST /api/generate': (_request: unknown, response: { end(text: string): void }) => {
      serve({ loaded: 8192 });
      response.end('{"done":true}');
    },
  };
}

async function start(env: Record<string, string> = {}): Promise<{ service: RunningService; pool: Pool }> {
  const config = loadConfig(settings, {
    DATABASE_URL: database.url,
    NATS_URL: nats.url,
    POLL_EVERY_MS: '200',
    POLL_TIMEOUT_MS: '500',
    LEASE_RETRY_MS: '100',
    ...env,
  });
  const file = parseNightshiftFile(
    `providers:
  home: { vendor: ollama, base_url: "${ollama.url}", models: { pinned: { window: 12000, output_max: 2000 } } }
  router: { vendor: openai-compatible, base_url: "http://127.0.0.1:9/v1" }
chains: { default: [router/big, home/qwen3] }`,
    'nightshift.yaml',
  );
  const pool = createPool(config);
  const service = await startServiceModule({
    service: 'model-registry',
    module: ModelRegistryModule.forRoot(config, file, pool),
    natsUrl: nats.url,
    ready: [schemaReady(pool)],
    env: { INSTANCE_ID: `registry-${services.length}` },
  });
  services.push(service);
  return { service, pool };
}

async function reader(service: RunningService): Promise<WindowReader> {
  const made = new WindowReader();
  readers.push(made);
  await made.follow(service.bus);
  await eventually(async () => (await made.ready()) === undefined);
  return made;
}

const team = { team: 'team-a' };
/** A command that meets a consumer in the middle of a restart comes again only after its ack wait of 30 s. */
const delivered = { timeoutMs: 45_000 };
const resolve = (service: RunningService, model: string, more: object = {}): Promise<registry.WindowReply> =>
  service.bus.request(routes.windowResolve, { provider: 'home', endpoint: '', model, ...more }, team);
const shape = (window: compaction.ModelWindow | undefined): unknown[] => [window?.window, window?.source, window?.unknown];

/** The registry itself is asked too: the bucket still holds what an earlier test served. */
async function untilServed(service: RunningService, windows: WindowReader): Promise<void> {
  await eventually(async () => (await resolve(service, 'qwen3')).window?.window === 4096);
  await eventually(() => windows.get('home', '', 'qwen3').window === 4096);
}

async function observe(service: RunningService, fields: object): Promise<void> {
  const message = {
    provider: 'router',
    endpoint: 'http://127.0.0.1:9/v1',
    model: 'big',
    kind: 'window',
    exactness: 'exact',
    ...fields,
  };
  await service.bus.command(routes.windowObserved, { atMs: BigInt(Date.now()), ...message } as never, {
    ...team,
    messageId: `observed-${Math.random()}`,
  });
}

/** Waits for so many further looks at the server. */
async function looks(count: number): Promise<void> {
  const seen = (): number => ollama.seen.filter((each) => each.url === '/api/ps').length;
  const before = seen();
  await eventually(() => seen() >= before + count, { timeoutMs: 10_000 });
}

describe('the model registry', () => {
  it('publishes what is served, named and known, and readers see it without asking', async () => {
    const { service } = await start();
    const windows = await reader(service);
    await untilServed(service, windows);
    expect(windows.get('home', '', 'qwen3')).toMatchObject({
      endpoint: ollama.url,
      source: 'served',
      trainedMax: 40_960,
      numCtx: 4096,
      unknown: false,
      warning: expect.stringContaining('serves 4096 of the 40960 tokens'),
    });
    expect(shape(windows.get('home', ollama.url, 'qwen3'))).toEqual([4096, 'served', false]);
    expect(windows.get('home', '', 'pinned')).toMatchObject({ window: 12_000, outputMax: 2000, source: 'operator' });
    expect(shape(windows.get('router', '', 'big'))).toEqual([32_000, 'unknown', true]);
    expect(shape(windows.get('anthropic', '', 'claude-sonnet-4-6'))).toEqual([1_000_000, 'catalogue', false]);
  });

  it('pushes a change to the readers and tells it as an event', async () => {
    const { service } = await start();
    const windows = await reader(service);
    await untilServed(service, windows);
    const told: registry.WindowChanged[] = [];
    const stop = service.bus.subscribeEvents(routes.windowChanged, (message) => {
      told.push(message);
    });
    serve({ loaded: 16_384 });
    await eventually(() => windows.get('home', '', 'qwen3').window === 16_384);
    await eventually(() => told.length > 0);
    expect(told.map((each) => [each.window?.window, each.previous])).toEqual([[16_384, 4096]]);
    stop();
  });

  it('keeps a window that was served once, over unloading, a dead server and a restart of the registry', async () => {
    const first = await start();
    await eventually(async () => (await resolve(first.service, 'qwen3')).window?.window === 4096);
    await first.service.stop();
    services = [];
    await ollama.stop();
    const second = await start();
    const windows = await reader(second.service);
    expect(shape(windows.get('home', '', 'qwen3'))).toEqual([4096, 'served', false]);
    await ollama.start();
    serve({});
    await eventually(() => windows.get('home', '', 'qwen3').notLoaded);
    expect(windows.get('home', '', 'qwen3')).toMatchObject({ window: 4096, numCtx: 4096, unknown: false });
  });

  it('probes an unknown window at once when a task asks, and loads the model only where that is allowed', async () => {
    serve({});
    const { service } = await start({ POLL_EVERY_MS: '60000' });
    await eventually(() => ollama.seen.some((each) => each.url === '/api/tags'));
    expect(shape((await resolve(service, 'qwen3', { probe: true })).window)).toEqual([32_000, 'unknown', true]);
    expect(ollama.seen.some((each) => each.url === '/api/generate')).toBe(false);
    const loaded = await resolve(service, 'qwen3', { probe: true, mayLoad: true });
    expect(shape(loaded.window)).toEqual([8192, 'served', false]);
    expect(loaded.numCtx).toBe(8192);
  });

  it('learns from one exact error, caps everything with it, and remembers it after a restart', async () => {
    const { service } = await start();
    await observe(service, { tokens: 28_000, text: 'maximum context length is 28000 tokens' });
    const windows = await reader(service);
    await eventually(() => windows.get('router', '', 'big').window === 28_000, delivered);
    await service.bus.request(routes.windowOverride, { provider: 'router', model: 'big', window: 200_000 }, team);
    await eventually(() => windows.get('router', '', 'big', 'team-a').source === 'learned');
    const capped = await service.bus.request(routes.windowResolve, { provider: 'router', model: 'big' }, team);
    expect(shape(capped.window)).toEqual([28_000, 'learned', false]);
    expect(capped.sources.map((each) => [each.source, each.fate])).toEqual([
      ['team', 'capped'],
      ['learned', 'won'],
    ]);
    await service.stop();
    services = [];
    const again = await start();
    const after = await reader(again.service);
    expect(shape(after.get('router', '', 'big'))).toEqual([28_000, 'learned', false]);
    await observe(again.service, { kind: 'accepted', tokens: 150_000 });
    await eventually(() => after.get('router', '', 'big', 'team-a').window === 200_000, delivered);
  });

  it('is one sighting when the same observation is delivered twice', async () => {
    const { service } = await start();
    const seen = {
      provider: 'gemini',
      endpoint: 'https://generativelanguage.googleapis.com',
      model: 'gemini-2.5-pro',
      tokens: 65_536,
      kind: 'input_max',
    };
    const sightings = (): Promise<number> =>
      database.pool
        .query<{ sightings: number }>("select sightings from learned_limits where provider = 'gemini'")
        .then((found) => found.rows[0]?.sightings ?? 0);
    await observe(service, { ...seen, atMs: 1000n });
    await eventually(async () => (await sightings()) === 1, delivered);
    await observe(service, { ...seen, atMs: 1000n });
    await observe(service, { ...seen, atMs: 2000n });
    await eventually(async () => (await sightings()) === 2, delivered);
  });

  it('keeps overrides of one team from every other, and gives the general window back when it is taken away', async () => {
    const { service } = await start();
    const windows = await reader(service);
    await untilServed(service, windows);
    const set = await service.bus.request(
      routes.windowOverride,
      { provider: 'home', model: 'qwen3', window: 6000, numCtx: 6000 },
      team,
    );
    expect([set.window?.window?.window, set.window?.numCtx]).toEqual([6000, 6000]);
    await eventually(() => windows.get('home', '', 'qwen3', 'team-a').window === 6000);
    expect(windows.get('home', '', 'qwen3', 'team-b').window).toBe(4096);
    await service.bus.request(routes.windowOverride, { provider: 'home', model: 'qwen3' }, team);
    await eventually(() => windows.get('home', '', 'qwen3', 'team-a').window === 4096);
  });

  it('lists windows with every source, and endpoints with their state', async () => {
    const { service } = await start();
    await eventually(async () => (await resolve(service, 'qwen3')).window?.window === 4096);
    const list = await service.bus.request(routes.windowList, { refresh: true }, team);
    expect(list.windows.map((each) => `${each.window?.provider}/${each.window?.model}`).sort()).toEqual([
      'home/pinned',
      'home/qwen3',
      'router/big',
    ]);
    expect(list.endpoints.map((each) => [each.provider, each.state]).sort()).toEqual([
      ['home', 'up'],
      // Only the gateway can ask a vendor, and there is none here: that says nothing about the vendor.
      ['router', 'unknown'],
    ]);
    expect(list.endpoints.find((each) => each.provider === 'router')?.reason).toBe('not polled yet');
    const claude = await service.bus.request(routes.windowList, { provider: 'anthropic' }, team);
    expect(claude.windows.length).toBeGreaterThan(10);
  });

  it('refuses a name that is missing or too long, listing every fault', async () => {
    const { service } = await start();
    const asked = service.bus.request(routes.windowResolve, { provider: '', model: '' }, team);
    await expect(asked).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      faults: ['provider: expected a name', 'model: expected a name'],
    });
  });

  it('has one active poller, taken over within seconds when it goes', async () => {
    const { service: first, pool } = await start();
    await reader(first);
    const { service: second } = await start();
    const lines = (): number => ollama.seen.filter((each) => each.url === '/api/tags').length;
    await first.stop();
    await pool.end().catch(() => undefined);
    services = [second];
    const before = lines();
    await eventually(() => lines() > before + 1, { timeoutMs: 5_000 });
  });

  it('keeps serving the last windows while NATS is away, and follows changes again afterwards', async () => {
    const { service } = await start();
    const windows = await reader(service);
    await untilServed(service, windows);
    await nats.kill();
    serve({ loaded: 16_384 });
    await looks(1);
    expect(shape(windows.get('home', '', 'qwen3'))).toEqual([4096, 'served', false]);
    await nats.start();
    await eventually(() => windows.get('home', '', 'qwen3').window === 16_384, { timeoutMs: 20_000 });
  });

  it('keeps serving the last windows while Postgres refuses every connection', async () => {
    const { service } = await start({ REPUBLISH_EVERY_MS: '200' });
    const windows = await reader(service);
    await untilServed(service, windows);
    await database.pool.query('alter table model_windows rename to hidden_windows');
    try {
      await looks(3);
      expect(shape(windows.get('home', '', 'qwen3'))).toEqual([4096, 'served', false]);
    } finally {
      await database.pool.query('alter table hidden_windows rename to model_windows');
    }
  });
});
