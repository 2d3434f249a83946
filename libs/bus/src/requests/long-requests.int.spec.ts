import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { NightshiftError, routes, type llm, type task } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import { BusContext, keepAliveSubject, type Bus, type RunningService } from '../index';
import { connectSpecBus, fastTimings, latch, startSpecService } from '../../spec-kit/service';

const nats = withNats();
let bus: Bus;
let gateway: RunningService;
let second: RunningService;
let handle: (message: llm.CompleteRequest, context: BusContext) => unknown;
const team = 'team-a';

@Controller()
class Handlers {
  @MessagePattern(routes.llmComplete.subject)
  complete(@Payload() message: llm.CompleteRequest, @Ctx() context: BusContext): unknown {
    return handle(message, context);
  }

  @MessagePattern(routes.taskStop.subject)
  stop(@Payload() message: task.StopRequest): unknown {
    if (message.taskId === 'broken') throw new NightshiftError('INTERNAL', 'broken');
    return { party: 'provider-gateway', idle: true };
  }
}

beforeAll(async () => {
  gateway = await startSpecService(nats.url, 'provider-gateway', [Handlers]);
  second = await startSpecService(nats.url, 'provider-gateway', [Handlers]);
  bus = await connectSpecBus(nats.url, 'orchestrator');
});
afterAll(async () => {
  await bus.close();
  await gateway.stop();
  await second.stop();
});

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'resolved',
    (error: unknown) => NightshiftError.from(error).code,
  );
const untilAborted = (context: BusContext): Promise<never> =>
  new Promise((_resolve, reject) =>
    context.signal.addEventListener('abort', () => reject(context.signal.reason as Error), { once: true }),
  );

describe('a long request', () => {
  it('outlives the silence limit many times as long as both sides beat', async () => {
    handle = () => new Promise((resolve) => setTimeout(() => resolve({ model: 'm' }), 4 * fastTimings.silenceMs));
    const reply = await bus.request(routes.llmComplete, {}, { team });
    expect(reply.model).toBe('m');
  });

  it('tells the handler within moments that its caller gave up', async () => {
    let reason: unknown;
    const started = latch();
    handle = async (_message, context) => {
      started.open();
      return untilAborted(context).catch((error: unknown) => {
        reason = error;
        throw error;
      });
    };
    const gone = new AbortController();
    const answer = code(bus.request(routes.llmComplete, {}, { team, signal: gone.signal }));
    await started.promise;
    const at = Date.now();
    gone.abort();
    expect(await answer).toBe('CANCELLED');
    await eventually(() => reason !== undefined);
    expect(Date.now() - at).toBeLessThan(fastTimings.silenceMs);
    expect(NightshiftError.from(reason).code).toBe('CANCELLED');
  });

  it('aborts the handler of a caller that fell silent', async () => {
    let reason: unknown;
    handle = (_message, context) =>
      untilAborted(context).catch((error: unknown) => {
        reason = error;
        throw error;
      });
    // A client that asks once and never says again that it waits.
    const inbox = 'spec.silent';
    const { headers } = await import('nats');
    const said = headers();
    said.set('Ns-Team', team);
    said.set('Ns-Keep-Alive', keepAliveSubject('provider-gateway', 'silent'));
    bus.connection.publish(routes.llmComplete.subject, new Uint8Array(), { reply: inbox, headers: said });
    await eventually(() => reason !== undefined);
    expect(NightshiftError.from(reason).message).toContain('no sign of life');
  });

  it('fails with UNAVAILABLE when the answering side falls silent: silence is an error, never an end', async () => {
    // Answers with one heartbeat and then nothing, as a process that hangs does.
    const subscription = bus.connection.subscribe(routes.workspaceOpen.subject + '.r1', {
      callback: (_error, message) => {
        void import('nats').then(({ headers }) => {
          const beat = headers();
          beat.set('Ns-Reply', 'heartbeat');
          message.respond(new Uint8Array(), { headers: beat });
        });
      },
    });
    const started = Date.now();
    expect(await code(bus.request(routes.workspaceOpen, {}, { team, key: 'r1' }))).toBe('UNAVAILABLE');
    expect(Date.now() - started).toBeGreaterThanOrEqual(fastTimings.silenceMs - 20);
    subscription.unsubscribe();
  });

  it('ends at its deadline although both sides beat', async () => {
    handle = (_message, context) => untilAborted(context);
    expect(await code(bus.request(routes.llmComplete, {}, { team, deadlineMs: 300 }))).toBe('DEADLINE_EXCEEDED');
  });
});

describe('a fan-out', () => {
  it('collects the answer of every instance, and stops waiting when all expected ones came', async () => {
    const started = Date.now();
    const replies = await bus.gather(routes.taskStop, { taskId: 't' }, { team, waitMs: 5_000, expect: 2 });
    expect(replies.map((reply) => reply.party)).toEqual(['provider-gateway', 'provider-gateway']);
    expect(Date.now() - started).toBeLessThan(2_000);
  });

  it('gives what came when the time is over, without the parties that failed', async () => {
    expect(await bus.gather(routes.taskStop, { taskId: 'broken' }, { team, waitMs: 200 })).toEqual([]);
  });
});
