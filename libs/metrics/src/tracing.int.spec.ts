import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';

const bodies: string[] = [];
let server: Server;
let status = 200;
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      bodies.push(`${request.url} ${body}`);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function traceOnce(): Promise<string> {
  const hook = path.resolve(__dirname, '../../testing/src/source-hook.cjs');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const script = path.resolve(__dirname, '../spec-kit/trace-once.ts');
  return (await promisify(execFile)(process.execPath, ['-r', hook, script, endpoint])).stdout;
}

describe('the OTLP exporter', () => {
  it('sends spans to /v1/traces of the endpoint, which the self-check proves', async () => {
    expect(await traceOnce()).toBe('fine');
    const all = bodies.join('\n');
    expect(all).toContain('/v1/traces');
    expect(all).toContain('chat m');
    expect(all).toContain('tracing self-check');
  });

  it('says why spans do not come out', async () => {
    status = 400;
    expect(await traceOnce()).toMatch(/Bad Request|400/);
  });
});
