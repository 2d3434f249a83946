import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Module, type Type } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { startService, uncountedBucket, type RunningService } from '@nightshift/bus';
import { loadConfig, serviceSettings } from '@nightshift/config';
import { NightshiftError, routes, serviceNames, type Route, type ServiceName } from '@nightshift/contracts';
import { findNatsServer } from '@nightshift/local-stack';
import { eventually } from '@nightshift/testing';
import { natsConfig } from './permissions';

const all = Object.values(routes) as Route[];
const team = 't';
const folder = mkdtempSync(join(tmpdir(), 'nightshift-permissions-'));
const services = new Map<ServiceName, RunningService>();
const of = (name: ServiceName): RunningService => services.get(name)!;
let server: ChildProcess;
let log = '';
let port = 0;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address() as AddressInfo;
      probe.close(() => resolve(free));
    });
  });

/** Answers every route the service must answer; a command fails once, so that noting an uncounted delivery is part of it. */
function handlersOf(service: ServiceName): Type {
  class Handlers {}
  Controller()(Handlers);
  for (const route of all) {
    const owns =
      route.delivery === 'request' ? route.answeredBy.includes(service) : route.delivery === 'command' && route.owner === service;
    if (!owns) continue;
    let calls = 0;
    const handle = async (): Promise<object> => {
      if (route.delivery === 'command' && calls++ === 0) throw new NightshiftError('UNAVAILABLE', 'not yet');
      return {};
    };
    Object.defineProperty(Handlers.prototype, route.name, { value: handle, writable: true });
    const pattern = route.delivery === 'request' ? MessagePattern : EventPattern;
    pattern(route.subject)(Handlers.prototype, route.name, Object.getOwnPropertyDescriptor(Handlers.prototype, route.name)!);
  }
  return Handlers;
}

async function start(service: ServiceName): Promise<void> {
  @Module({ controllers: [handlersOf(service)] })
  class ServiceModule {}
  const config = loadConfig(serviceSettings, {
    NATS_URL: `nats://127.0.0.1:${port}`,
    NATS_USER: service,
    NATS_PASSWORD: `${service}-password`,
    LOG_LEVEL: 'silent',
    ACK_WAIT_MS: '900',
    SHUTDOWN_GRACE_MS: '1000',
  });
  services.set(service, await startService({ service, module: ServiceModule, config, keys: { runner: 'r1' } }));
}

const violations = () => [...log.matchAll(/(Publish|Subscription) Violation.*/g)].map((match) => match[0]);

beforeAll(async () => {
  port = await freePort();
  const file = join(folder, 'nats.conf');
  const options = {
    storeDir: folder,
    password: (user: string) => `${user}-password`,
    port,
    monitorPort: await freePort(),
    host: '127.0.0.1',
  };
  writeFileSync(file, natsConfig(options));
  server = spawn(findNatsServer()!, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  server.stderr!.on('data', (data) => (log += String(data)));
  await eventually(() => log.includes('Server is ready'));
  // In the order in which nobody's queues exist yet.
  for (const service of serviceNames) await start(service);
  await of('orchestrator').bus.openKeyed(routes.toolRun, 'r1');
});
afterAll(async () => {
  await Promise.all([...services.values()].map((service) => service.stop()));
  server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function send(route: Route, sender: ServiceName): Promise<unknown> {
  const { bus } = of(sender);
  const key = route.key === 'runner' ? { key: 'r1' } : {};
  switch (route.delivery) {
    case 'request':
      if (route.fanOut) return bus.gather(route, {}, { team, waitMs: 5_000, expect: route.answeredBy.length });
      return bus.request(route, {}, { team, ...key });
    case 'command':
      return bus.command(route, {}, { team, messageId: `${route.name}-${sender}`, ...key });
    case 'event':
    case 'live': {
      let seen = false;
      const owner = of(route.owner).bus;
      if (route.delivery === 'event') {
        const stop = bus.subscribeEvents(route, () => void (seen = true));
        await stop.ready;
        await owner.event(route, {}, { team, messageId: `${route.name}-${sender}` });
        await eventually(() => seen);
        stop();
      } else {
        const stop = bus.subscribeLive(route, { team, task: 'x' }, () => void (seen = true));
        await bus.flush();
        owner.live(route, {}, { team, task: 'x' });
        await eventually(() => seen);
        stop();
      }
    }
  }
}

describe('a service with its own NATS user', () => {
  it.each(serviceNames)('%s can send everything that the table lets it send', async (service) => {
    for (const route of all) if (route.senders.includes(service)) await send(route, service);
  });

  it('can handle its commands, note what does not count, read the windows and carry large bodies', async () => {
    for (const [name, { bus }] of services) {
      for (const route of all) {
        if (route.delivery !== 'command' || route.owner !== name || route.key !== 'none') continue;
        await eventually(
          async () =>
            (await bus.manager.consumers.info(route.name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(), name))
              .num_ack_pending === 0,
        );
        await bus.kv(uncountedBucket);
      }
    }
    await (await of('model-registry').bus.kv('windows')).put('a', 'b');
    const watch = await (await of('compactor').bus.kv('windows')).watch(() => undefined);
    await watch.ready;
    watch.stop();
    const reference = await of('compactor').bus.claims.put(new Uint8Array(9_000_000), 5_000, 'request');
    expect(await of('orchestrator').bus.claims.take(reference)).toHaveLength(9_000_000);
    expect(violations()).toEqual([]);
  });

  it('can do nothing else: no foreign route, queue, bucket or inbox', async () => {
    const { bus: compactor } = of('compactor');
    const { bus: runner } = of('tool-runner');
    const refused: [string, () => void][] = [
      [routes.taskCreate.subject, () => compactor.connection.publish(routes.taskCreate.subject)],
      [routes.taskStep.subject, () => runner.connection.publish(routes.taskStep.subject)],
      ['$JS.API.STREAM.DELETE.TASK_STEP', () => compactor.connection.publish('$JS.API.STREAM.DELETE.TASK_STEP')],
      ['$KV.windows.a', () => compactor.connection.publish('$KV.windows.a')],
      [
        routes.llmComplete.subject,
        () => void runner.connection.subscribe(routes.llmComplete.subject, { callback: () => undefined }),
      ],
      ['_INBOX_orchestrator.>', () => void runner.connection.subscribe('_INBOX_orchestrator.>', { callback: () => undefined })],
      ['nightshift.>', () => void compactor.connection.subscribe('nightshift.>', { callback: () => undefined })],
    ];
    for (const [subject, attempt] of refused) {
      attempt();
      await eventually(() => violations().some((line) => line.includes(`"${subject}"`)));
    }
    expect(violations()).toHaveLength(refused.length);
  });
});
