import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServiceName } from '@nightshift/contracts';
import { freePort, startChild, type Child, type Exit } from '@nightshift/local-stack';
import { eventually, type RunningStack } from '@nightshift/testing';

export interface Replica {
  readonly service: ServiceName;
  readonly name: string;
  readonly operationsUrl: string;
  /** Where its HTTP interface listens; services without one have a port that nobody listens on. */
  readonly url: string;
  readonly child: Child;
  /** As a load balancer sees it: what the last probe said. */
  ready: boolean;
}

/** How one process ended after SIGTERM. */
export interface Ending extends Exit {
  readonly name: string;
  readonly ms: number;
}

const root = path.resolve(__dirname, '..');
const probeEveryMs = 200;

/** Replicas of services that a test starts and ends one by one, and what a load balancer knows of them. */
export class Fleet {
  readonly replicas: Replica[] = [];
  private readonly names: string[] = [];
  private started = 0;
  private readonly probe: NodeJS.Timeout;
  private turn = 0;

  constructor(private readonly stack: RunningStack) {
    this.probe = setInterval(() => this.replicas.forEach((replica) => void look(replica)), probeEveryMs);
  }

  /** Starts one more replica and waits until it is ready. */
  async start(service: ServiceName): Promise<Replica> {
    const name = `${service}-${++this.started}`;
    const [operations, http] = [await freePort(), await freePort()];
    const child = await startChild({
      command: process.execPath,
      args: ['--enable-source-maps', path.join(root, 'services', service, 'dist/main.js')],
      cwd: root,
      env: {
        ...this.stack.environment(service),
        METRICS_PORT: String(operations),
        API_PORT: String(http),
        GATEWAY_PORT: String(http),
        INSTANCE_ID: name,
      },
      onLine: (line) => appendFileSync(this.logFile(name), `${line}\n`),
    });
    this.names.push(name);
    const local = 'http://127.0.0.1';
    const replica = { service, name, operationsUrl: `${local}:${operations}`, url: `${local}:${http}`, child, ready: false };
    this.replicas.push(replica);
    await eventually(
      async () => {
        if (child.ended()) throw new Error(`${name} ended: ${child.tail()}`);
        return look(replica);
      },
      { timeoutMs: 60_000, everyMs: 100 },
    );
    return replica;
  }

  /** SIGTERM, and how it went. */
  async end(replica: Replica): Promise<Ending> {
    const began = performance.now();
    replica.child.signal('SIGTERM');
    const exit = await replica.child.exited;
    this.replicas.splice(this.replicas.indexOf(replica), 1);
    return { name: replica.name, ...exit, ms: Math.round(performance.now() - began) };
  }

  of(service: ServiceName): Replica {
    const found = this.replicas.find((replica) => replica.service === service);
    if (!found) throw new Error(`no ${service} runs`);
    return found;
  }

  /** The next ready API, in turn. */
  balance(): string {
    const ready = this.replicas.filter(({ service, ready }) => service === 'api' && ready);
    const next = ready[this.turn++ % ready.length];
    if (!next) throw new Error('no API is ready');
    return next.url;
  }

  /** Every log line of every replica that there was. */
  log(): { name: string; line: Record<string, unknown> }[] {
    return this.names.flatMap((name) =>
      readFileSync(this.logFile(name), 'utf8')
        .split('\n')
        .filter((text) => text.startsWith('{'))
        .map((text) => ({ name, line: JSON.parse(text) as Record<string, unknown> })),
    );
  }

  async stop(): Promise<void> {
    clearInterval(this.probe);
    await Promise.all(this.replicas.splice(0).map(({ child }) => child.stop()));
  }

  private logFile(name: string): string {
    return path.join(this.stack.folder, 'logs', `${name}.log`);
  }
}

async function look(replica: Replica): Promise<boolean> {
  const response = await fetch(`${replica.operationsUrl}/health/ready`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => undefined,
  );
  await response?.text();
  return (replica.ready = response?.status === 200);
}
