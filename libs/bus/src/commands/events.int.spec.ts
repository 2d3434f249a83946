import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { routes, type registry, type tool } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import { BusContext, type Bus, type RunningService } from '../index';
import { connectSpecBus, startSpecService } from '../../spec-kit/service';

const nats = withNats();
const team = 'team-a';
const changed: string[] = [];
const ran: string[] = [];

@Controller()
class Reader {
  @EventPattern(routes.windowChanged.subject)
  changed(@Payload() message: registry.WindowChanged): void {
    changed.push(message.window?.model ?? '');
  }
}
@Controller()
class Runner {
  @EventPattern(routes.toolRun.subject)
  run(@Payload() message: tool.Run, @Ctx() context: BusContext): void {
    ran.push(`${context.key}:${message.callId}`);
  }
}

let registryBus: Bus;
let orchestratorBus: Bus;
let reader: RunningService;
beforeAll(async () => {
  reader = await startSpecService(nats.url, 'orchestrator', [Reader]);
  registryBus = await connectSpecBus(nats.url, 'model-registry');
  orchestratorBus = await connectSpecBus(nats.url, 'orchestrator');
});
afterAll(async () => {
  await registryBus.close();
  await orchestratorBus.close();
  await reader.stop();
});

const tell = (model: string) => registryBus.event(routes.windowChanged, { window: { model } }, { team, messageId: `w-${model}` });

describe('an event', () => {
  it('reaches a durable reader, and every ephemeral subscription of every instance', async () => {
    const first: string[] = [];
    const second: string[] = [];
    const stopFirst = orchestratorBus.subscribeEvents(
      routes.windowChanged,
      (message) => void first.push(message.window?.model ?? ''),
    );
    const stopSecond = registryBus.subscribeEvents(
      routes.windowChanged,
      (message) => void second.push(message.window?.model ?? ''),
    );
    await Promise.all([stopFirst.ready, stopSecond.ready]);
    await tell('a');
    await eventually(() => first.includes('a') && second.includes('a') && changed.includes('a'));
    stopFirst();
    await tell('b');
    await eventually(() => second.includes('b'));
    expect(first).toEqual(['a']);
    stopSecond();
  });

  it('goes on in an ephemeral subscription after the server was killed and restarted', async () => {
    const seen: string[] = [];
    const stop = registryBus.subscribeEvents(routes.windowChanged, (message) => void seen.push(message.window?.model ?? ''));
    await stop.ready;
    await tell('before');
    await eventually(() => seen.includes('before'));
    await nats.kill();
    await nats.start();
    await eventually(
      async () => {
        await tell(`after-${seen.length}-${Date.now()}`);
        return seen.some((model) => model.startsWith('after'));
      },
      { timeoutMs: 30_000, everyMs: 200 },
    );
    stop();
  }, 45_000);
});

describe('a live message', () => {
  it('reaches who subscribes to this task of this team, and nobody else', async () => {
    const seen: string[] = [];
    const stop = orchestratorBus.subscribeLive(routes.liveDelta, { team, task: 't1' }, (message, context) => {
      seen.push(`${context.key} ${message.taskId}`);
    });
    await orchestratorBus.flush();
    registryBus.live(routes.liveDelta, { taskId: 't2' }, { team, task: 't2' });
    registryBus.live(routes.liveDelta, { taskId: 'other team' }, { team: 'team-b', task: 't1' });
    registryBus.live(routes.liveDelta, { taskId: 't1' }, { team, task: 't1' });
    await eventually(() => seen.length > 0);
    expect(seen).toEqual(['team-a.t1 t1']);
    stop();
  });
});

describe('a keyed command', () => {
  it('waits in the queue of its key until that instance takes it, and no other instance does', async () => {
    const run = (key: string, callId: string) =>
      orchestratorBus.command(routes.toolRun, { callId }, { team, key, messageId: `${key}-${callId}` });
    const runner = await startSpecService(nats.url, 'tool-runner', [Runner], { keys: { toolRun: 'r1' } });
    // The loop asks again until the orchestrator has created the durable.
    await orchestratorBus.openKeyed(routes.toolRun, 'r1');
    await orchestratorBus.openKeyed(routes.toolRun, 'r2');
    await orchestratorBus.openKeyed(routes.toolRun, 'r1');
    await run('r2', 'c0');
    await run('r1', 'c1');
    await eventually(() => ran.length > 0);
    expect(ran).toEqual(['r1:c1']);
    expect((await orchestratorBus.manager.consumers.info('TOOL_RUN', 'tool-runner-r2')).num_pending).toBe(1);
    await runner.stop();
  });

  it('is gone with its queue when the key is closed', async () => {
    await orchestratorBus.closeKeyed(routes.toolRun, 'r2');
    await orchestratorBus.closeKeyed(routes.toolRun, 'r2');
    const consumers = await orchestratorBus.manager.consumers.list('TOOL_RUN').next();
    expect(consumers.map((consumer) => consumer.name)).toEqual(['tool-runner-r1']);
    expect((await orchestratorBus.manager.streams.info('TOOL_RUN')).state.messages).toBe(0);
  });
});
