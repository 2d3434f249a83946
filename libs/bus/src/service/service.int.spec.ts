import { Controller, Injectable, Module } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { nanos } from 'nats';
import { NightshiftError, routes, type compaction, type llm } from '@nightshift/contracts';
import { Logger, Metrics } from '@nightshift/metrics';
import { eventually, withNats } from '@nightshift/testing';
import { Bus, BusContext, SERVICE_CONFIG, startService, topology, type RunningService } from '../index';
import { connectSpecBus, latch, specConfig, startSpecService } from '../../spec-kit/service';

const nats = withNats();
const team = 'team-a';
let bus: Bus;
beforeAll(async () => {
  bus = await connectSpecBus(nats.url, 'orchestrator');
});
afterAll(() => bus.close());

let onRun: (message: compaction.RunRequest, context: BusContext) => Promise<void>;
let onComplete: (message: llm.CompleteRequest, context: BusContext) => Promise<unknown>;

@Controller()
class Compactor {
  @EventPattern(routes.compactionRun.subject)
  run(@Payload() message: compaction.RunRequest, @Ctx() context: BusContext): Promise<void> {
    return onRun(message, context);
  }
}
@Controller()
class Gateway {
  @MessagePattern(routes.llmComplete.subject)
  complete(@Payload() message: llm.CompleteRequest, @Ctx() context: BusContext): Promise<unknown> {
    return onComplete(message, context);
  }
}
@Controller()
class Twice {
  @MessagePattern(routes.llmComplete.subject)
  one(): object {
    return {};
  }
  @MessagePattern(routes.llmComplete.subject)
  two(): object {
    return {};
  }
}
const faultsOf = (work: Promise<unknown>) =>
  work.then(
    () => [],
    (error: unknown) => NightshiftError.from(error).faults,
  );
const ready = async (service: RunningService) => {
  const response = await fetch(`${service.operations.url}/health/ready`);
  return { status: response.status, ...((await response.json()) as { ready: boolean; faults: string[] }) };
};
const send = (taskId: string) => bus.command(routes.compactionRun, { taskId }, { team, messageId: `${taskId}-${Date.now()}` });

describe('the boot', () => {
  it('gives bus, metrics, logger and configuration to every module', async () => {
    const given: unknown[] = [];
    @Injectable()
    class NeedsAll {
      constructor(one: Bus, two: Metrics, three: Logger) {
        given.push(one, two, three);
      }
    }
    @Module({ providers: [NeedsAll] })
    class Inner {}
    const service = await startService({ service: 'api', module: Inner, config: specConfig(nats.url), partial: true });
    expect(given).toEqual([service.bus, service.metrics, service.logger]);
    expect(service.get(NeedsAll)).toBeInstanceOf(NeedsAll);
    expect(service.get<{ NATS_URL: string }>(SERVICE_CONFIG).NATS_URL).toBe(nats.url);
    await service.stop();
  });

  it('is refused when an owned request has no handler, or two, naming every one', async () => {
    expect(await faultsOf(startSpecService(nats.url, 'provider-gateway', [Gateway], { partial: false }))).toEqual([
      'taskStop: expected a handler, found none',
      'llmAttempts: expected a handler, found none',
      'providerListModels: expected a handler, found none',
      'providerStatus: expected a handler, found none',
    ]);
    expect(await faultsOf(startSpecService(nats.url, 'provider-gateway', [Twice]))).toEqual([
      'llmComplete: expected one handler, found 2',
    ]);
  });

  it('may be done by all services at once on an empty server', async () => {
    for (const stream of topology(900).streams) await bus.manager.streams.delete(stream.name).catch(() => false);
    const names = [
      'api',
      'orchestrator',
      'provider-gateway',
      'model-registry',
      'compactor',
      'tool-result-store',
      'tool-runner',
    ] as const;
    const services = await Promise.all(names.map((name) => startSpecService(nats.url, name, [])));
    const streams = await bus.manager.streams.list().next();
    const wanted = topology(900).streams.map((stream) => stream.name);
    expect(
      streams
        .map((stream) => stream.config.name)
        .filter((name) => wanted.includes(name))
        .sort(),
    ).toEqual(wanted.sort());
    await Promise.all(services.map((service) => service.stop()));
  });

  it('is refused when a stream or consumer differs from the table, and changes it when told to', async () => {
    await bus.manager.streams.update('COMPACTION_RUN', { max_bytes: 1_000_000 });
    await bus.manager.consumers.update('COMPACTION_RUN', 'compactor', { ack_wait: nanos(77_000) });
    onRun = async () => undefined;
    expect(await faultsOf(startSpecService(nats.url, 'compactor', [Compactor]))).toEqual([
      'COMPACTION_RUN.max_bytes: expected 67108864, found 1000000',
    ]);
    const service = await startSpecService(nats.url, 'compactor', [Compactor], { env: { NATS_DRIFT: 'apply' } });
    await service.stop();
    expect((await bus.manager.streams.info('COMPACTION_RUN')).config.max_bytes).toBe(67_108_864);
    expect((await bus.manager.consumers.info('COMPACTION_RUN', 'compactor')).config.ack_wait).toBe(nanos(900));
    await (await startSpecService(nats.url, 'compactor', [Compactor])).stop();
  });

  it('names the port that is taken', async () => {
    const service = await startSpecService(nats.url, 'compactor', [Compactor]);
    const port = service.operations.port;
    await expect(startSpecService(nats.url, 'compactor', [Compactor], { env: { METRICS_PORT: String(port) } })).rejects.toThrow(
      `METRICS_PORT ${port}`,
    );
    await service.stop();
  });
});

describe('readiness', () => {
  it('lists what is wrong, and liveness never asks for it', async () => {
    let fault: string | undefined = 'database: away';
    const service = await startSpecService(nats.url, 'compactor', [Compactor], { ready: [async () => fault] });
    expect(await ready(service)).toEqual({ status: 503, ready: false, faults: ['database: away'] });
    expect((await fetch(`${service.operations.url}/health/live`)).status).toBe(200);
    fault = undefined;
    expect(await ready(service)).toEqual({ status: 200, ready: true, faults: [] });
    await service.stop();
  });

  it('is lost while NATS is away and comes back by itself', async () => {
    const service = await startSpecService(nats.url, 'compactor', [Compactor]);
    await nats.kill();
    await eventually(async () => (await ready(service)).faults.includes('nats: not connected, reconnecting'));
    expect((await fetch(`${service.operations.url}/health/live`)).status).toBe(200);
    await nats.start();
    await eventually(async () => (await ready(service)).ready, { timeoutMs: 20_000 });
    await eventually(() => bus.flush().then(() => true));
    await service.stop();
  }, 40_000);
});

describe('the drain', () => {
  it('lets what runs end, takes nothing new, answers every request, and leaves the rest in the queue', async () => {
    const finish = latch();
    const started: string[] = [];
    onRun = async (message) => {
      started.push(message.taskId);
      await finish.promise;
    };
    const service = await startSpecService(nats.url, 'compactor', [Compactor], { concurrency: { compactionRun: 1 } });
    await send('running');
    await eventually(() => started.length === 1);
    await send('waiting');
    const stopped = service.stop();
    await eventually(async () => (await ready(service)).faults.includes('service: stopping'));
    finish.open();
    await stopped;
    expect(started).toEqual(['running']);
    const info = await bus.manager.consumers.info('COMPACTION_RUN', 'compactor');
    expect([info.num_pending, info.num_ack_pending]).toEqual([1, 0]);

    const second = await startSpecService(nats.url, 'compactor', [Compactor]);
    await eventually(() => started.includes('waiting'));
    await second.stop();
  });

  it('sends work back, not counted, when its handler needs longer than the grace period', async () => {
    const deliveries: number[] = [];
    const reasons: string[] = [];
    onRun = (_message, context) => {
      deliveries.push(context.delivery);
      if (context.delivery > 1) return Promise.resolve();
      return new Promise((_resolve, reject) =>
        context.signal.addEventListener('abort', () => {
          reasons.push(NightshiftError.from(context.signal.reason).code);
          reject(context.signal.reason as Error);
        }),
      );
    };
    const service = await startSpecService(nats.url, 'compactor', [Compactor], { env: { SHUTDOWN_GRACE_MS: '300' } });
    await send('long');
    await eventually(() => deliveries.length === 1);
    await service.stop();
    expect(reasons).toEqual(['UNAVAILABLE']);
    const at = Date.now();
    const second = await startSpecService(nats.url, 'compactor', [Compactor]);
    await eventually(() => deliveries.length === 2);
    // Much sooner than ack_wait would have brought it.
    expect(Date.now() - at).toBeLessThan(800);
    await second.stop();
  });

  it('answers the requests it has accepted, and the others go to another replica: no caller sees an error', async () => {
    onComplete = () => new Promise((resolve) => setTimeout(() => resolve({ model: 'm' }), 20));
    let service = await startSpecService(nats.url, 'provider-gateway', [Gateway]);
    let done = false;
    const errors: string[] = [];
    let answered = 0;
    const callers = Array.from({ length: 8 }, async () => {
      while (!done) {
        await bus.request(routes.llmComplete, {}, { team, deadlineMs: 5_000 }).then(
          () => answered++,
          (error: unknown) => errors.push(NightshiftError.from(error).message),
        );
      }
    });
    for (let round = 0; round < 3; round++) {
      const next = await startSpecService(nats.url, 'provider-gateway', [Gateway]);
      const target = answered + 20;
      await eventually(() => answered > target);
      await service.stop();
      service = next;
    }
    done = true;
    await Promise.all(callers);
    await service.stop();
    expect(errors).toEqual([]);
  });
});

describe('queue gauges', () => {
  it('agree with the server', async () => {
    // A message of an earlier test that came late would be counted too.
    await bus.manager.streams.purge('COMPACTION_RUN');
    const finish = latch();
    let started = 0;
    onRun = async () => {
      started++;
      await finish.promise;
    };
    const service = await startSpecService(nats.url, 'compactor', [Compactor], { concurrency: { compactionRun: 2 } });
    for (let index = 0; index < 5; index++) await send(`gauge${index}`);
    await eventually(() => started === 2);
    await eventually(async () => {
      const text = await (await fetch(`${service.operations.url}/metrics`)).text();
      const shown = ['queue_pending', 'queue_in_flight'].map(
        (name) => new RegExp(`^nightshift_${name}{route="compactionRun"} (.*)$`, 'm').exec(text)?.[1],
      );
      expect(shown).toEqual(['3', '2']);
      return true;
    });
    finish.open();
    await eventually(async () => (await bus.manager.consumers.info('COMPACTION_RUN', 'compactor')).num_ack_pending === 0);
    await service.stop();
  });
});
