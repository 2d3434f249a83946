import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { NightshiftError, routes, type task, type tool } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import { BusContext, type Bus, type RunningService } from '../index';
import { connectSpecBus, startSpecService } from '../../spec-kit/service';

const nats = withNats();
const team = 'team-a';
let bus: Bus;
let one: RunningService;
let two: RunningService;
let onStep: (message: task.Step, context: BusContext) => Promise<void>;
let onPut: () => { id: string };

@Controller()
class Handlers {
  @EventPattern(routes.taskStep.subject)
  step(@Payload() message: task.Step, @Ctx() context: BusContext): Promise<void> {
    return onStep(message, context);
  }
  @MessagePattern(routes.deadletterPut.subject)
  put(): { id: string } {
    return onPut();
  }
}
@Controller()
class RunnerHandlers {
  @MessagePattern(routes.workspaceRead.subject)
  read(@Payload() message: tool.WorkspaceReadRequest, @Ctx() context: BusContext): object {
    return { files: [{ path: `${context.key}:${message.workspaceId}` }] };
  }
}

beforeAll(async () => {
  one = await startSpecService(nats.url, 'orchestrator', [Handlers]);
  two = await startSpecService(nats.url, 'orchestrator', [Handlers]);
  bus = await connectSpecBus(nats.url, 'orchestrator');
});
afterAll(async () => {
  await bus.close();
  await one.stop();
  await two.stop();
});

const send = (taskId: string) => bus.command(routes.taskStep, { taskId }, { team, messageId: `m-${taskId}` });
const left = async () => (await bus.manager.streams.info('TASK_STEP')).state.messages;

describe('two replicas on one durable', () => {
  it('share the queue, and each message is handled once', async () => {
    const seen: string[] = [];
    onStep = async (message) => {
      seen.push(message.taskId);
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await Promise.all(Array.from({ length: 100 }, (_, index) => send(`shared${index}`)));
    await eventually(async () => (await left()) === 0);
    expect(new Set(seen).size).toBe(100);
    expect(seen).toHaveLength(100);
    const handled = await Promise.all(
      [one, two].map(
        async (service) =>
          / ?nightshift_bus_deliveries_total\{route="taskStep",outcome="ack"\} (\d+)/.exec(await service.metrics.text())?.[1],
      ),
    );
    expect(handled.map(Number).reduce((sum, count) => sum + count)).toBe(100);
    for (const count of handled) expect(Number(count)).toBeGreaterThan(10);
  });

  it('is the only consumer its subject may have: the server refuses a second durable', async () => {
    const second = bus.manager.consumers.add('TASK_STEP', {
      durable_name: 'second',
      filter_subject: routes.taskStep.subject,
      ack_policy: 'explicit' as never,
    });
    await expect(second).rejects.toThrow('filtered consumer not unique on workqueue stream');
  });
});

describe('a dead letter', () => {
  it('stays in its queue until it has been stored: an owner that is away loses nothing', async () => {
    let puts = 0;
    onPut = () => {
      if (++puts <= 2) throw new NightshiftError('UNAVAILABLE', 'database away');
      return { id: 'x' };
    };
    onStep = () => Promise.reject(new NightshiftError('INTERNAL', 'poison'));
    await send('poison');
    await eventually(() => puts === 3, { timeoutMs: 20_000 });
    await eventually(async () => (await left()) === 0);
  }, 30_000);
});

describe('a full queue', () => {
  it('refuses with BUSY and a hint, so that senders feel it', async () => {
    onStep = () => new Promise(() => undefined);
    await bus.manager.streams.update('TASK_STEP', { max_bytes: 400 });
    const refused = await (async () => {
      for (let index = 0; index < 20; index++) await send(`full${index}`);
    })().catch((error: unknown) => NightshiftError.from(error));
    expect(refused).toMatchObject({ code: 'BUSY', retryAfterMs: 5_000 });
    await bus.manager.streams.update('TASK_STEP', { max_bytes: 64 * 1024 * 1024 });
    await bus.manager.streams.purge('TASK_STEP');
  });
});

describe('a keyed request', () => {
  it('reaches the instance with this key only', async () => {
    const runner = await startSpecService(nats.url, 'tool-runner', [RunnerHandlers], { keys: { toolRun: 'r1' } });
    const reply = await bus.request(routes.workspaceRead, { workspaceId: 'w' }, { team, key: 'r1' });
    expect(reply.files.map((file) => file.path)).toEqual(['r1:w']);
    await expect(bus.request(routes.workspaceRead, { workspaceId: 'w' }, { team, key: 'r2' })).rejects.toThrow('UNAVAILABLE');
    await expect(bus.request(routes.workspaceRead, { workspaceId: 'w' }, { team })).rejects.toThrow('INVALID_ARGUMENT');
    await runner.stop();
  });
});
