import { Controller } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { routes, type deadletter, type task } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import { maxDeliver, type Bus } from '../index';
import { connectSpecBus, startSpecService } from '../../spec-kit/service';

const nats = withNats();
let bus: Bus;
const letters: deadletter.PutRequest[] = [];
const unparked: string[] = [];

@Controller()
class Handlers {
  @EventPattern(routes.taskStep.subject)
  step(): void {
    throw new Error('never gets here');
  }
  @MessagePattern(routes.deadletterPut.subject)
  put(@Payload() message: deadletter.PutRequest): { id: string } {
    letters.push(message);
    return { id: 'x' };
  }
}
const start = () =>
  startSpecService(nats.url, 'orchestrator', [Handlers], {
    deadLetter: { taskStep: async (message: task.Step) => void unparked.push(message.taskId) },
  });

beforeAll(async () => {
  await (await startSpecService(nats.url, 'orchestrator', [])).stop();
  bus = await connectSpecBus(nats.url, 'orchestrator');
});
afterAll(() => bus.close());

/** As ten processes in a row would that die before they can put it away. */
async function exhaust(taskId: string): Promise<void> {
  await bus.command(routes.taskStep, { taskId }, { team: 't', messageId: taskId });
  const consumer = await bus.stream.consumers.get('TASK_STEP', 'orchestrator');
  for (let delivery = 1; delivery <= maxDeliver; delivery++) (await consumer.next({ expires: 5_000 }))!.nak();
}
const left = async () => (await bus.manager.streams.info('TASK_STEP')).state.messages;

describe('a message past max_deliver', () => {
  it('is put away on the advisory of the server, and its owner told', async () => {
    await exhaust('advised');
    const service = await start();
    await eventually(async () => (await left()) === 0);
    expect(letters).toMatchObject([{ stream: 'TASK_STEP', route: 'taskStep', deliveries: maxDeliver }]);
    expect(letters[0]!.reason).toContain('the server has given up');
    expect(unparked).toEqual(['advised']);
    expect(await service.metrics.text()).toContain('nightshift_bus_advisories_total{route="taskStep",kind="max_deliveries"} 1');
    await service.stop();
  });

  it('is found in its idle queue when nobody heard the advisory', async () => {
    await exhaust('unheard');
    // The server speaks at the next pull, into the void.
    const consumer = await bus.stream.consumers.get('TASK_STEP', 'orchestrator');
    expect(await consumer.next({ expires: 1_000 })).toBeNull();
    expect(await left()).toBe(1);
    const service = await start();
    await eventually(async () => (await left()) === 0);
    expect(unparked).toEqual(['advised', 'unheard']);
    await service.stop();
  });
});
