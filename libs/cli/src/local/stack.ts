import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { migrate } from '@nightshift/db';
import {
  portTaken,
  startChild,
  startNats,
  startPostgres,
  supervise,
  type Child,
  type RunningNats,
  type RunningPostgres,
  type SupervisedService,
} from '@nightshift/local-stack';
import { allPorts, serviceNames, type Layout, type ServiceName } from './layout';
import type { Logs } from './logs';
import { untilAllReady } from './readiness';
import { environmentOf, type StackChoices, type StackUrls } from './service-environment';

export interface StackOptions {
  layout: Layout;
  choices: StackChoices;
  logs: Logs;
  say: (line: string) => void;
  /** Servers of the user's own, instead of those we would start. */
  external: { nats?: string; database?: string };
  /** Given when the simulator is to run: its configuration and its request log. */
  simulator?: { config: string; log: string };
  onServiceExit?: (name: string, signal: string | null) => void;
  /** A launcher was killed here: what it had started may still be ending. */
  afterKill: boolean;
}

const readyTimeoutMs = 60_000;
/** Above SHUTDOWN_GRACE_MS of the services would be too long for somebody who waits at a terminal. */
const stopGraceMs = 12_000;
/** The orphans of a killed launcher end within seconds. */
const portWaitMs = 12_000;

/** Postgres, NATS, the seven services and, if wanted, the model simulator, on this machine. */
export class Stack {
  private postgres: RunningPostgres | undefined;
  private nats: RunningNats | undefined;
  private simulator: Child | undefined;
  private readonly services = new Map<ServiceName, SupervisedService>();
  private readonly deadForGood = new Map<string, number>();
  private stopped: Promise<void> | undefined;
  private stopping = false;

  constructor(private readonly options: StackOptions) {}

  /** Starts everything and waits until it is ready. @throws NightshiftError with what to do. */
  async start(): Promise<StackUrls> {
    await this.refuseTakenPorts();
    const urls = await this.startServers();
    this.halt();
    const applied = await migrate(urls.database);
    if (applied.length > 0) this.options.say(`database: applied ${applied.join(', ')}`);
    await this.startSimulator();
    for (const name of serviceNames) {
      this.halt();
      await this.startService(name, urls);
    }
    await this.untilReady();
    return urls;
  }

  operations(): Record<ServiceName, string> {
    const { metrics } = this.options.layout.ports;
    return Object.fromEntries(serviceNames.map((name) => [name, `http://127.0.0.1:${metrics[name]}`])) as Record<
      ServiceName,
      string
    >;
  }

  pids(): Record<string, number> {
    const own: Array<[string, number | undefined]> = [
      ['postgres', this.postgres?.pid],
      ['nats', this.nats?.pid],
      ['simulator', this.simulator?.pid],
    ];
    return Object.fromEntries([
      ...own.filter((entry): entry is [string, number] => entry[1] !== undefined),
      ...[...this.services].map(([name, service]): [string, number] => [name, service.pid()]),
    ]);
  }

  service(name: ServiceName): SupervisedService {
    const found = this.services.get(name);
    if (!found) throw new NightshiftError('FAILED_PRECONDITION', `${name} is not running`);
    return found;
  }

  /** Stops in the order of dependence; safe to call twice, and while starting. */
  stop(): Promise<void> {
    return (this.stopped ??= this.stopAll());
  }

  private async stopAll(): Promise<void> {
    this.stopping = true;
    await Promise.all([...this.services.values()].map((service) => service.stop()));
    await this.simulator?.stop();
    await Promise.all([this.nats?.stop(), this.postgres?.stop()]);
    // A start that was under way may have brought up one more meanwhile.
    await Promise.all([...this.services.values()].map((service) => service.stop()));
  }

  /** Ends a start that was interrupted. */
  private halt(): void {
    if (this.stopping) throw new NightshiftError('CANCELLED', 'interrupted');
  }

  private async refuseTakenPorts(): Promise<void> {
    const { layout, external, simulator, afterKill } = this.options;
    const wanted = allPorts(layout.ports).filter(
      ({ port }) =>
        !(external.nats && [layout.ports.nats, layout.ports.natsMonitor].includes(port)) &&
        !(external.database && port === layout.ports.postgres) &&
        !(simulator === undefined && port === layout.ports.simulator),
    );
    const until = Date.now() + (afterKill ? portWaitMs : 0);
    for (let first = true; ; first = false) {
      const states = await Promise.all(wanted.map(async (one) => ({ ...one, taken: await portTaken(one.port) })));
      const taken = states.filter((one) => one.taken);
      if (taken.length === 0) return;
      const all = taken.map(({ port, what }) => `port ${port} (${what})`).join(', ');
      if (Date.now() >= until) {
        const text = `${all} ${taken.length === 1 ? 'is' : 'are'} taken by another program: stop it, or choose others with --port-offset`;
        throw new NightshiftError('FAILED_PRECONDITION', text);
      }
      if (first) this.options.say(`waiting for ${all}: in use`);
      this.halt();
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  private async startServers(): Promise<StackUrls> {
    const { layout, external, logs } = this.options;
    const [nats, database] = await Promise.all([
      external.nats ??
        startNats({
          dataDir: path.join(layout.stateDir, 'nats'),
          port: layout.ports.nats,
          monitorPort: layout.ports.natsMonitor,
          onLine: (line) => logs.line('nats', line),
        }).then((server) => ((this.nats = server), server.url)),
      external.database ??
        startPostgres({
          dataDir: path.join(layout.stateDir, 'postgres'),
          port: layout.ports.postgres,
          onLine: (line) => logs.line('postgres', line),
        }).then((server) => ((this.postgres = server), server.url)),
    ]);
    return { nats, database };
  }

  private async startSimulator(): Promise<void> {
    const { simulator, layout, logs } = this.options;
    if (!simulator) return;
    const entry = path.join(layout.projectRoot, 'libs/model-simulator/dist/main.js');
    const args = [entry, '--port', String(layout.ports.simulator), '--config', simulator.config, '--log', simulator.log];
    this.simulator = await startChild({
      command: process.execPath,
      args,
      env: { PATH: this.options.choices.outer.PATH ?? '' },
      onLine: (line) => logs.line('model-simulator', line),
    });
  }

  private async startService(name: ServiceName, urls: StackUrls): Promise<void> {
    const { layout, choices, logs } = this.options;
    const service = await supervise({
      name,
      entry: path.join(layout.projectRoot, 'services', name, 'dist/main.js'),
      nodeArgs: ['--enable-source-maps'],
      env: environmentOf(name, layout, urls, choices),
      cwd: layout.projectRoot,
      stopGraceMs,
      onLine: (line) => logs.line(name, line),
      onExit: (_, code, signal) => {
        // 78: its configuration is wrong, and the supervisor does not start it again.
        if (code === 78) this.deadForGood.set(name, code);
        this.options.onServiceExit?.(name, signal);
      },
    });
    this.services.set(name, service);
  }

  private async untilReady(): Promise<void> {
    const faults = await untilAllReady({
      services: this.operations(),
      timeoutMs: readyTimeoutMs,
      onProgress: (ready, waiting) =>
        this.options.say(
          `ready ${ready.length}/${serviceNames.length}${waiting.length > 0 ? `, waiting for ${waiting.join(', ')}` : ''}`,
        ),
      check: () => {
        this.halt();
        for (const [name] of this.deadForGood) throw this.notStarted(name);
      },
    });
    const [name] = Object.keys(faults);
    if (name === undefined) return;
    const list = Object.entries(faults).map(([service, why]) => `${service}: ${why.join('; ')}`);
    throw new NightshiftError('UNAVAILABLE', `not ready after ${readyTimeoutMs / 1000} s:\n  ${list.join('\n  ')}`);
  }

  private notStarted(name: string): NightshiftError {
    const tail = this.service(name as ServiceName).tail();
    return new NightshiftError('FAILED_PRECONDITION', `${name} does not start:\n${tail}\n(${this.options.logs.fileOf(name)})`);
  }
}
