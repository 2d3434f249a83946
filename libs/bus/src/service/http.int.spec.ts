import { Controller, Get, Module, Res, type OnModuleInit } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { NightshiftError, routes } from '@nightshift/contracts';
import { createLogger } from '@nightshift/metrics';
import { withNats } from '@nightshift/testing';
import { startService, type RunningService } from '../index';
import { specConfig } from '../../spec-kit/service';

const nats = withNats();

interface Reply {
  raw: { write(text: string): void };
  hijack(): void;
}

@Controller()
class Front {
  @Get('hello')
  hello(): object {
    return { hello: 'world' };
  }

  /** Never ends, as an event stream. */
  @Get('stream')
  stream(@Res() reply: Reply): void {
    reply.hijack();
    reply.raw.write('HTTP stream\n');
  }
}
@Module({ controllers: [Front] })
class FrontModule {}

const start = (port = 0, env: Record<string, string> = {}): Promise<RunningService> =>
  startService({
    service: 'api',
    module: FrontModule,
    config: specConfig(nats.url, env),
    partial: true,
    http: { adapter: new FastifyAdapter(), host: '127.0.0.1', port },
  });

let inits = 0;
@Controller()
class Tasks implements OnModuleInit {
  onModuleInit(): void {
    inits++;
  }

  @MessagePattern(routes.taskGet.subject)
  get(): never {
    throw new NightshiftError('NOT_FOUND', 'no such task');
  }
}
@Module({ controllers: [Tasks] })
class TasksModule {}

describe('a service with an HTTP front', () => {
  it('answers messages with the code that a handler threw, and starts without a warning', async () => {
    const lines: string[] = [];
    const service = await startService({
      service: 'orchestrator',
      module: TasksModule,
      config: specConfig(nats.url),
      partial: true,
      logger: createLogger({ service: 'orchestrator', level: 'warn', write: (line) => void lines.push(line) }),
      http: { adapter: new FastifyAdapter(), host: '127.0.0.1', port: 0 },
    });
    const asked = service.bus.request(routes.taskGet, { taskId: 't' }, { team: 't' });
    await expect(asked).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await service.stop();
    expect(lines).toEqual([]);
    expect(inits).toBe(1);
  });

  it('goes on serving for the delay after it is asked to end, and is not ready', async () => {
    const service = await start(0, { SHUTDOWN_DELAY_MS: '800' });
    const ready = (): Promise<Response> => fetch(`${service.operations.url}/health/ready`);
    expect((await ready()).status).toBe(200);
    const stopped = service.stop();
    expect((await ready()).status).toBe(503);
    expect((await fetch(`http://127.0.0.1:${service.httpPort}/hello`)).status).toBe(200);
    expect(service.bus.drain.begun.aborted).toBe(true);
    await stopped;
    await expect(fetch(`http://127.0.0.1:${service.httpPort}/hello`)).rejects.toThrow('fetch failed');
  });

  it('serves HTTP beside its messages, and names the port that is taken', async () => {
    const service = await start();
    const reply = await fetch(`http://127.0.0.1:${service.httpPort}/hello`);
    expect(await reply.json()).toEqual({ hello: 'world' });
    await expect(start(service.httpPort)).rejects.toThrow(`cannot listen on 127.0.0.1:${service.httpPort} (EADDRINUSE)`);
    await service.stop();
  });

  it('stops within its time although a stream is open', async () => {
    const service = await start(0, { SHUTDOWN_GRACE_MS: '500' });
    const gone = new AbortController();
    const reply = await fetch(`http://127.0.0.1:${service.httpPort}/stream`, { signal: gone.signal });
    expect(reply.status).toBe(200);
    const began = Date.now();
    await service.stop();
    expect(Date.now() - began).toBeLessThan(5_000);
    gone.abort();
  });
});
