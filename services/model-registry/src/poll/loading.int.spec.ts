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
/** Servers that keep models on disk and load them when asked to. */
const kinds = ['ollama', 'lmstudio', 'llamacpp'] as const;

let simulator: Simulator;
let service: RunningService;

beforeAll(async () => {
  const model = { window: 12_288, facts: { trained: 131_072, loaded: false } };
  const servers = kinds.map((kind) => [
    kind,
    { kind, port: 0, router: kind === 'llamacpp', models: { cold: model, 'left-alone': model } },
  ]);
  simulator = await startSimulator({ config: { servers: Object.fromEntries(servers) } as SimulatorConfigInput });
  const providers = kinds.map((kind) => `  ${kind}: { vendor: ${kind}, base_url: "${simulator.servers[kind]}" }`).join('\n');
  const config = loadConfig(settings, { DATABASE_URL: database.url, NATS_URL: nats.url, POLL_EVERY_MS: '60000' });
  service = await startServiceModule({
    service: 'model-registry',
    module: ModelRegistryModule.forRoot(
      config,
      parseNightshiftFile(`providers:\n${providers}`, 'nightshift.yaml'),
      createPool(config),
    ),
    natsUrl: nats.url,
    logger: createLogger({ service: 'model-registry', level: 'silent' }),
  });
});
afterAll(async () => {
  await service?.stop();
  await simulator?.stop();
});

const resolve = (provider: string, model: string, how: object): Promise<registry.WindowReply> =>
  service.bus.request(routes.windowResolve, { provider, model, ...how }, team);

async function loadsOf(server: string): Promise<string[]> {
  const state = (await (await fetch(`${simulator.url}/_simulator/state`)).json()) as {
    servers: { name: string; models: { name: string; loads: number }[] }[];
  };
  const models = state.servers.find((each) => each.name === server)?.models ?? [];
  return models.map(({ name, loads }) => `${name}: ${loads}`);
}

describe.each(kinds)('the start of a task on %s', (kind) => {
  it('finds the window unknown while nothing may be loaded, and loads nothing', async () => {
    await eventually(async () => (await resolve(kind, 'cold', { probe: true })).window?.notLoaded === true);
    const { window } = await resolve(kind, 'cold', { probe: true });
    expect(window).toMatchObject({ window: 32_000, unknown: true, trainedMax: kind === 'llamacpp' ? 0 : 131_072 });
    expect(await loadsOf(kind)).toEqual(['cold: 0', 'left-alone: 0']);
  });

  it('loads the model that it is about to use, and no other, and knows what is served then', async () => {
    const { window } = await resolve(kind, 'cold', { probe: true, mayLoad: true });
    expect(window).toMatchObject({ window: 12_288, source: 'served', unknown: false, notLoaded: false });
    expect(await loadsOf(kind)).toEqual(['cold: 1', 'left-alone: 0']);
  });
});
