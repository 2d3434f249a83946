import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { maxCommandBytes, NightshiftError, routes, type deadletter, type task } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import { BusContext, type Bus, type RunningService } from '../index';
import { connectSpecBus, latch, startSpecService } from '../../spec-kit/service';

const nats = withNats();
let bus: Bus;
let service: RunningService;
const team = 'team-a';
const letters: deadletter.PutRequest[] = [];
const unparked: string[] = [];
let onStep: (message: task.Step, context: BusContext) => Promise<void>;
let number = 0;

@Controller()
class Handlers {
  @EventPattern(routes.taskStep.subject)
  step(@Payload() message: task.Step, @Ctx() context: BusContext): Promise<void> {
    return onStep(message, context);
  }
  @MessagePattern(routes.deadletterPut.subject)
  put(@Payload() message: deadletter.PutRequest): { id: string } {
    letters.push(message);
    return { id: String(letters.length) };
  }
}

beforeAll(async () => {
  service = await startSpecService(nats.url, 'orchestrator', [Handlers], {
    concurrency: { taskStep: 4 },
    deadLetter: { taskStep: async (message: task.Step) => void unparked.push(message.taskId) },
  });
  bus = await connectSpecBus(nats.url, 'orchestrator');
});
afterAll(async () => {
  await bus.close();
  await service.stop();
});
beforeEach(() => {
  letters.length = 0;
  unparked.length = 0;
});

const send = (taskId: string, messageId = `m${++number}`) =>
  bus.command(routes.taskStep, { taskId, epoch: 1 }, { team, messageId });
const pending = async () => {
  const info = await bus.manager.consumers.info('TASK_STEP', 'orchestrator');
  return info.num_pending + info.num_ack_pending;
};
const metric = async (line: string) => (await service.metrics.text()).includes(line);

describe('a command', () => {
  it('is acknowledged once its handler has resolved', async () => {
    const seen: unknown[] = [];
    onStep = async (message, context) => {
      seen.push([message.taskId, message.epoch, context.team, context.delivery, context.redelivered, context.messageId]);
    };
    await send('t1', 'first');
    await eventually(() => seen.length > 0);
    expect(seen).toEqual([['t1', 1, team, 1, false, 'first']]);
    await eventually(async () => (await pending()) === 0);
  });

  it('is dropped by the server when its message id was seen within the duplicate window', async () => {
    const seen: string[] = [];
    onStep = async (message) => void seen.push(message.taskId);
    await send('a', 'same');
    await send('b', 'same');
    await send('c', 'other');
    await eventually(() => seen.includes('c'));
    expect(seen).toEqual(['a', 'c']);
  });

  it('is refused above 64 KB, without a message id, and without a team', async () => {
    const code = (work: () => Promise<unknown>) => work().then(String, (error: unknown) => NightshiftError.from(error).code);
    expect(await code(() => send('x'.repeat(maxCommandBytes + 1)))).toBe('PAYLOAD_TOO_LARGE');
    expect(await code(() => bus.command(routes.taskStep, {}, { team, messageId: '' }))).toBe('INVALID_ARGUMENT');
    expect(await code(() => bus.command(routes.taskStep, {}, { team: '', messageId: 'm' }))).toBe('INVALID_ARGUMENT');
    expect(await code(() => bus.command(routes.toolRun, {}, { team, messageId: 'm' }))).toBe('INVALID_ARGUMENT');
  });

  it('comes again after a delay when its handler fails, and the redelivery is counted', async () => {
    const at: number[] = [];
    onStep = async (_message, context) => {
      at.push(Date.now());
      if (context.delivery === 1) throw new Error('once');
    };
    await send('again');
    await eventually(() => at.length === 2);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(25);
    expect(await metric('nightshift_bus_deliveries_total{route="taskStep",outcome="nak"} 1')).toBe(true);
    expect(await metric('nightshift_bus_redeliveries_total{route="taskStep"} 1')).toBe(true);
  });

  it('is acknowledged and counted when it was fenced off', async () => {
    let calls = 0;
    onStep = async () => {
      calls++;
      throw new NightshiftError('FENCED', 'epoch 2');
    };
    await send('fenced');
    await eventually(() => metric('nightshift_bus_deliveries_total{route="taskStep",outcome="fenced"} 1'));
    await eventually(async () => (await pending()) === 0);
    expect(calls).toBe(1);
  });

  it('is kept alive while its handler works longer than ack_wait', async () => {
    let calls = 0;
    onStep = async () => {
      calls++;
      await new Promise((resolve) => setTimeout(resolve, 2_500));
    };
    await send('slow');
    await eventually(async () => calls > 0 && (await pending()) === 0);
    expect(calls).toBe(1);
  });

  it('is put away at the start of the delivery past its limit, its owner told, and never comes again', async () => {
    const deliveries: number[] = [];
    onStep = async (_message, context) => {
      deliveries.push(context.delivery);
      throw new NightshiftError('INTERNAL', 'poison');
    };
    await send('poison', 'poison-id');
    await eventually(() => letters.length === 1 && unparked.length === 1);
    expect(deliveries).toEqual([1, 2, 3, 4, 5]);
    expect(unparked).toEqual(['poison']);
    expect(letters[0]).toMatchObject({
      stream: 'TASK_STEP',
      consumer: 'orchestrator',
      subject: routes.taskStep.subject,
      route: 'taskStep',
      deliveries: 6,
      reason: '5 deliveries failed',
    });
    expect(letters[0]!.headers).toMatchObject({ 'Ns-Team': team, 'Nats-Msg-Id': 'poison-id' });
    await eventually(async () => (await pending()) === 0);
  });

  it('survives more infrastructure faults than its limit: they do not count', async () => {
    let calls = 0;
    onStep = async () => {
      if (++calls <= 7) throw new NightshiftError('UNAVAILABLE', 'database away');
    };
    await send('outage');
    await eventually(async () => calls === 8 && (await pending()) === 0, { timeoutMs: 20_000 });
    expect(letters).toEqual([]);
  }, 30_000);

  it('is held back here when another nak would use up the last delivery the server grants', async () => {
    let calls = 0;
    let highest = 0;
    onStep = async (_message, context) => {
      highest = Math.max(highest, context.delivery);
      if (++calls <= 12) throw new NightshiftError('UNAVAILABLE', 'database away for long');
    };
    await send('long outage');
    await eventually(async () => calls === 13 && (await pending()) === 0, { timeoutMs: 40_000 });
    expect(highest).toBe(9);
    expect(letters).toEqual([]);
  }, 60_000);

  it('that nobody can read is put away at once', async () => {
    onStep = async () => undefined;
    await bus.stream.publish(routes.taskStep.subject, new Uint8Array([0xff, 0xff]), { msgID: `m${++number}` });
    await eventually(() => letters.length === 1);
    expect(letters[0]).toMatchObject({ deliveries: 1 });
  });
});

describe('pulling', () => {
  it('takes as many messages as there are free slots and no more: the rest stays for other replicas', async () => {
    const finish = latch();
    let running = 0;
    let most = 0;
    onStep = async () => {
      most = Math.max(most, ++running);
      await finish.promise;
      running--;
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(`many${index}`)));
    await eventually(() => running === 4);
    const info = await bus.manager.consumers.info('TASK_STEP', 'orchestrator');
    expect([info.num_ack_pending, info.num_pending]).toEqual([4, 16]);
    finish.open();
    await eventually(async () => (await pending()) === 0);
    expect(most).toBe(4);
    expect(await metric('nightshift_bus_redeliveries_total{route="taskStep"} 0')).toBe(false);
  });

  it('goes on by itself after the server was killed and restarted, and loses nothing acknowledged', async () => {
    const seen = new Set<string>();
    onStep = async (message) => void seen.add(message.taskId);
    for (let index = 0; index < 20; index++) await send(`before${index}`);
    await nats.kill();
    await nats.start();
    await eventually(() => send('after').then(() => true), { timeoutMs: 20_000, everyMs: 100 });
    await eventually(() => seen.size === 21, { timeoutMs: 20_000 });
    expect(await metric('nightshift_bus_reconnects_total 1')).toBe(true);
    expect(await metric('nightshift_bus_consume_loops_rebuilt_total{route="taskStep"}')).toBe(true);
  }, 45_000);
});
