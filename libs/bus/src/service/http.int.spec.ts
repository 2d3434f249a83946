import { Controller, Get, Module, Res } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
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

describe('a service with an HTTP front', () => {
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
