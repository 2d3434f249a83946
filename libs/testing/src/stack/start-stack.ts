import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serviceNames } from '@nightshift/contracts';
import type { ServiceName } from '@nightshift/contracts';
import { migrate } from '@nightshift/db';
import { startChild, startNats, startPostgres, supervise } from '@nightshift/local-stack';
import type { Child, NatsPlaces, RunningNats, RunningPostgres, SupervisedService } from '@nightshift/local-stack';
import { eventually } from '../eventually';
import { choosePorts, environmentOf } from './stack-environment';

export interface StackOptions {
  /** Configuration of the simulator process; none is started without it. */
  simulator?: object;
  /** The nightshift.yaml, given the simulator's addresses: `base` and one per named server. */
  file?: (simulator: SimulatorUrls) => string;
  /** All seven unless named. */
  services?: readonly ServiceName[];
  /** Added to the environment of one service, or of `all`. */
  env?: Partial<Record<ServiceName | 'all', Record<string, string>>>;
  /** NATS with one user per service, and what the server is configured with; without users when absent. */
  nats?: { configure: (places: NatsPlaces) => string; password: (service: ServiceName) => string };
  /** Where tasks may have their workspaces, beside the stack's own folder. */
  allowedRoots?: readonly string[];
}

export interface SimulatorUrls {
  base: string;
  servers: Readonly<Record<string, string>>;
}

export interface RunningStack {
  /** Holds everything the stack writes; tasks may have workspaces below `<folder>/repositories`. */
  readonly folder: string;
  readonly apiUrl: string;
  readonly adminKey: string;
  readonly natsUrl: string;
  /** The monitoring address of the NATS server. */
  readonly natsMonitorUrl: string;
  /** What the NATS server wrote. */
  natsLog(): string;
  readonly databaseUrl: string;
  readonly simulator: SimulatorUrls;
  /** One JSON line per request that the simulator got. */
  simulatorLog(): unknown[];
  operationsUrl(service: ServiceName): string;
  /** What a process of this service is started with, also of one that is not part of the stack: for further replicas. */
  environment(service: ServiceName): Record<string, string>;
  /** `signal('SIGKILL')` is followed by a restart. */
  service(service: ServiceName): SupervisedService;
  log(service: ServiceName): string;
  /** Calls the API as the bootstrap admin, or with another key; the body is JSON. */
  api(method: string, route: string, body?: unknown, key?: string): Promise<{ status: number; body: unknown }>;
  /** Waits until these (or all) services are ready. */
  ready(services?: readonly ServiceName[]): Promise<void>;
  killNats(): Promise<void>;
  startNats(): Promise<void>;
  killPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  stop(): Promise<void>;
}

const root = path.resolve(__dirname, '../../../..');
const readyTimeoutMs = 60_000;

async function startSimulator(folder: string, config: object): Promise<{ child: Child; urls: SimulatorUrls }> {
  const file = path.join(folder, 'simulator.json');
  writeFileSync(file, JSON.stringify(config));
  const servers: Record<string, string> = {};
  let base: string | undefined;
  const child = await startChild({
    command: process.execPath,
    args: [
      path.join(root, 'libs/model-simulator/dist/main.js'),
      ...['--port', '0', '--config', file, '--log', path.join(folder, 'simulator.jsonl')],
    ],
    onLine: (line) => {
      const server = /^simulator server (\S+) (\S+)$/.exec(line);
      if (server?.[1] && server[2]) servers[server[1]] = server[2];
      base ??= /^simulator ready (\S+)$/.exec(line)?.[1];
    },
  });
  const ready = await eventually(() => {
    if (child.ended()) throw new Error(`the simulator ended: ${child.tail()}`);
    return base;
  });
  return { child, urls: { base: ready, servers } };
}

/**
 * Starts the real thing: Postgres, NATS, the simulator and the services as processes from their dist folders (build first),
 * each on free ports, with data in a temporary folder. Waits until all are ready.
 */
export async function startStack(options: StackOptions = {}): Promise<RunningStack> {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-stack-'));
  const natsLogFile = path.join(folder, 'nats.log');
  const wanted = options.services ?? serviceNames;
  const running = new Map<ServiceName, SupervisedService>();
  let nats: RunningNats | undefined;
  let postgres: RunningPostgres | undefined;
  let simulator: Awaited<ReturnType<typeof startSimulator>> | undefined;

  const stop = async (): Promise<void> => {
    await Promise.all([...running.values()].map((service) => service.stop()));
    await Promise.all([simulator?.child.stop(), nats?.stop(), postgres?.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  const natsUp = async (): Promise<RunningNats> =>
    (nats = await startNats({
      dataDir: path.join(folder, 'nats'),
      port: nats?.port,
      monitorPort: nats?.monitorPort,
      configure: options.nats?.configure,
      onLine: (line) => appendFileSync(natsLogFile, `${line}\n`),
    }));
  const postgresUp = async (): Promise<RunningPostgres> =>
    (postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), port: postgres?.port }));

  try {
    const [{ url: natsUrl, monitorUrl: natsMonitorUrl }, { url: databaseUrl }] = await Promise.all([natsUp(), postgresUp()]);
    await migrate(databaseUrl);
    simulator = options.simulator ? await startSimulator(folder, options.simulator) : undefined;
    const urls = simulator?.urls ?? { base: '', servers: {} };
    const nightshiftFile = path.join(folder, 'nightshift.yaml');
    writeFileSync(nightshiftFile, options.file?.(urls) ?? '');
    const repositories = path.join(folder, 'repositories');
    for (const each of [repositories, path.join(folder, 'workspaces'), path.join(folder, 'logs')]) mkdirSync(each);
    const adminKey = `nsk_${randomBytes(32).toString('base64url')}`;
    const ports = await choosePorts();
    const allowedRoots = [repositories, ...(options.allowedRoots ?? [])];
    const places = { natsUrl, databaseUrl, nightshiftFile, adminKey, folder, allowedRoots };
    const logFile = (service: ServiceName): string => path.join(folder, 'logs', `${service}.log`);
    const environment = (service: ServiceName): Record<string, string> => ({
      ...environmentOf(service, ports, places),
      ...(options.nats ? { NATS_USER: service, NATS_PASSWORD: options.nats.password(service) } : {}),
      ...options.env?.all,
      ...options.env?.[service],
    });
    for (const service of wanted) {
      const supervised = await supervise({
        name: service,
        entry: path.join(root, 'services', service, 'dist/main.js'),
        nodeArgs: ['--enable-source-maps'],
        env: environment(service),
        cwd: root,
        stopGraceMs: 10_000,
        onLine: (line) => appendFileSync(logFile(service), `${line}\n`),
      });
      running.set(service, supervised);
    }
    const of = (service: ServiceName): SupervisedService => {
      const found = running.get(service);
      if (!found) throw new Error(`${service} is not part of this stack`);
      return found;
    };
    const operationsUrl = (service: ServiceName): string => `http://127.0.0.1:${ports.operations[service]}`;
    const apiUrl = `http://127.0.0.1:${ports.api}`;
    const stack: RunningStack = {
      folder,
      apiUrl,
      adminKey,
      natsUrl,
      natsMonitorUrl,
      natsLog: () => readFileSync(natsLogFile, 'utf8'),
      databaseUrl,
      simulator: urls,
      simulatorLog: () =>
        readFileSync(path.join(folder, 'simulator.jsonl'), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as unknown),
      operationsUrl,
      environment,
      service: of,
      log: (service) => readFileSync(logFile(service), 'utf8'),
      async api(method, route, body, key = adminKey) {
        const response = await fetch(`${apiUrl}${route}`, {
          method,
          headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, body: text ? (JSON.parse(text) as unknown) : undefined };
      },
      ready: async (services = wanted) => {
        await Promise.all(services.map((service) => untilReady(operationsUrl(service), () => of(service).tail())));
      },
      async killNats() {
        nats?.signal('SIGKILL');
        await nats?.exited;
      },
      async startNats() {
        await natsUp();
      },
      async killPostgres() {
        // QUIT ends it at once without a checkpoint, as a crash does, and takes its children along.
        postgres?.signal('SIGQUIT');
        await postgres?.exited;
      },
      async startPostgres() {
        await postgresUp();
      },
      stop,
    };
    await stack.ready();
    return stack;
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function untilReady(operationsUrl: string, tail: () => string): Promise<void> {
  await eventually(
    async () => {
      const response = await fetch(`${operationsUrl}/health/ready`, { signal: AbortSignal.timeout(4_000) }).catch(
        () => undefined,
      );
      const text = await response?.text();
      if (response?.status !== 200) throw new Error(`not ready: ${text ?? 'does not answer'}\n${tail()}`);
      return true;
    },
    { timeoutMs: readyTimeoutMs, everyMs: 100 },
  );
}
