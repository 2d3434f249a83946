import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { NightshiftError, routes, type task } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import { BusContext, type Bus, type RunningService } from '../index';
import { connectSpecBus, latch, startSpecService } from '../../spec-kit/service';

const nats = withNats();
let bus: Bus;
let service: RunningService;
let handle: (message: task.GetRequest, context: BusContext) => unknown;
const team = 'team-a';

@Controller()
class Handlers {
  @MessagePattern(routes.taskGet.subject)
  get(@Payload() message: task.GetRequest, @Ctx() context: BusContext): unknown {
    return handle(message, context);
  }
}

beforeAll(async () => {
  service = await startSpecService(nats.url, 'orchestrator', [Handlers], { concurrency: { taskGet: 2 } });
  bus = await connectSpecBus(nats.url, 'api');
});
afterAll(async () => {
  await bus.close();
  await service.stop();
});

const ask = (taskId: string, options: Partial<Parameters<Bus['request']>[2]> = {}) =>
  bus.request(routes.taskGet, { taskId }, { team, ...options });

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'resolved',
    (error: unknown) => NightshiftError.from(error).code,
  );
}

describe('a request', () => {
  it('is answered by a five-line handler that knows team, subject and deadline', async () => {
    let seen: BusContext | undefined;
    handle = (message, context) => {
      seen = context;
      return { task: { id: message.taskId, teamId: context.team } };
    };
    const before = Date.now();
    const reply = await ask('t1', { deadlineMs: 3_000 });
    expect(reply.task).toMatchObject({ id: 't1', teamId: team });
    expect(seen).toMatchObject({ team, subject: routes.taskGet.subject, delivery: 1, redelivered: false });
    expect(seen!.deadlineMs).toBeGreaterThanOrEqual(before + 3_000);
    expect(seen!.deadlineMs).toBeLessThanOrEqual(Date.now() + 3_000);
  });

  it('takes an absolute deadline too, so that a handler passes on its own', async () => {
    let seen = 0;
    handle = (_message, context) => {
      seen = context.deadlineMs;
      return {};
    };
    const absolute = Date.now() + 1_234;
    await ask('t1', { deadlineMs: absolute });
    expect(seen).toBe(absolute);
  });

  it('brings back code, faults, hint and details of the error that was thrown', async () => {
    handle = () => {
      throw new NightshiftError('CONTEXT_IRREDUCIBLE', 'does not fit', {
        faults: ['a: expected b'],
        retryAfterMs: 1_500,
        details: { tokens: 12, window: 8 },
      });
    };
    const error = await ask('t1').catch((one: unknown) => NightshiftError.from(one));
    expect(error).toMatchObject({
      code: 'CONTEXT_IRREDUCIBLE',
      text: 'does not fit',
      faults: ['a: expected b'],
      retryAfterMs: 1_500,
      details: { tokens: 12, window: 8 },
    });
  });

  it('turns an unknown error into INTERNAL with its text, not into "Internal server error"', async () => {
    handle = () => {
      throw new TypeError('x is not a function');
    };
    await expect(ask('t1')).rejects.toThrow('INTERNAL: x is not a function');
  });

  it('fails at once with UNAVAILABLE when nobody answers the subject', async () => {
    const started = Date.now();
    expect(await codeOf(bus.request(routes.taskDiff, { taskId: 't' }, { team }))).toBe('UNAVAILABLE');
    expect(Date.now() - started).toBeLessThan(1_000);
  });

  it('ends at its deadline on both sides', async () => {
    const aborted = latch();
    handle = (_message, context) =>
      new Promise((_resolve, reject) =>
        context.signal.addEventListener('abort', () => {
          aborted.open();
          reject(context.signal.reason as Error);
        }),
      );
    expect(await codeOf(ask('t1', { deadlineMs: 80 }))).toBe('DEADLINE_EXCEEDED');
    await aborted.promise;
  });

  it('is not worked on when its deadline has passed', async () => {
    let called = false;
    handle = () => {
      called = true;
      return {};
    };
    expect(await codeOf(ask('t1', { deadlineMs: Date.now() - 1 + 1e-3 }))).toBe('DEADLINE_EXCEEDED');
    expect(called).toBe(false);
  });

  it('is refused without a team', async () => {
    expect(await codeOf(bus.request(routes.taskGet, { taskId: 't' }, { team: '' }))).toBe('INVALID_ARGUMENT');
    expect(await codeOf(bus.request(routes.taskGet, { taskId: 't' }, { team: 'a.b>' }))).toBe('INVALID_ARGUMENT');
  });

  it('is refused by the handler side too when another client leaves the team out', async () => {
    handle = () => ({});
    const reply = await bus.connection.request(routes.taskGet.subject, new Uint8Array(), { timeout: 1_000 });
    expect(reply.headers?.get('Ns-Reply')).toBe('error');
  });

  it('ends with CANCELLED when its own signal is aborted', async () => {
    const started = latch();
    const finish = latch();
    handle = async () => {
      started.open();
      await finish.promise;
      return {};
    };
    const gone = new AbortController();
    const answer = codeOf(ask('t1', { signal: gone.signal }));
    await started.promise;
    gone.abort();
    expect(await answer).toBe('CANCELLED');
    finish.open();
  });

  it('is answered BUSY with a hint when the slots and the queue behind them are full', async () => {
    const finish = latch();
    let inside = 0;
    handle = async () => {
      inside++;
      await finish.promise;
      return {};
    };
    const accepted = Array.from({ length: 10 }, () => codeOf(ask('t1')));
    await eventually(() => inside === 2);
    const refused = await ask('t1').catch((error: unknown) => NightshiftError.from(error));
    expect(refused).toMatchObject({ code: 'BUSY' });
    expect((refused as NightshiftError).retryAfterMs).toBeGreaterThan(0);
    finish.open();
    expect(await Promise.all(accepted)).toEqual(Array(10).fill('resolved'));
  });

  it('travels through the object store when body or reply exceeds the limit of the server', async () => {
    const large = 'x'.repeat((bus.connection.info?.max_payload ?? 0) + 10_000);
    handle = (message) => ({ task: { id: String(message.taskId.length), goal: message.taskId } });
    const reply = await ask(large, { deadlineMs: 20_000 });
    expect(reply.task?.id).toBe(String(large.length));
    expect(reply.task?.goal).toBe(large);
    const text = await service.metrics.text();
    expect(text).toContain('nightshift_bus_claim_checks_total{direction="reply"} 1');
    // Kept for at least twice the deadline, and gone once it was fetched.
    const { config } = await bus.manager.streams.info('OBJ_claims_60');
    expect(config.max_age).toBe(60e9);
    const store = await bus.stream.views.os('claims_60');
    await eventually(async () => (await store.list()).length === 0);
  });
});
