import { spawnSync } from 'node:child_process';
import { createMetrics, startOperationsServer, type Fault, type OperationsServer } from './index';

let ready: () => Promise<Fault[]>;
let server: OperationsServer;
const metrics = createMetrics('orchestrator');
beforeAll(async () => {
  server = await startOperationsServer({ port: 0, host: '127.0.0.1', metrics, ready: () => ready() });
});
afterAll(() => server.close());

const get = async (path: string) => {
  const response = await fetch(server.url + path);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

describe('the operations server', () => {
  it('is live whatever is wrong elsewhere, and ready only without faults', async () => {
    ready = async () => ['database: away', 'nats: not connected'];
    expect((await get('/health/live')).status).toBe(200);
    expect(await get('/health/ready')).toMatchObject({
      status: 503,
      text: '{"ready":false,"faults":["database: away","nats: not connected"]}',
    });
    ready = async () => [];
    expect(await get('/health/ready')).toMatchObject({ status: 200, text: '{"ready":true,"faults":[]}' });
  });

  it('counts a check that throws or hangs as a fault', async () => {
    ready = async () => {
      throw new Error('no route');
    };
    expect((await get('/health/ready')).text).toContain('INTERNAL: no route');
    ready = () => new Promise(() => undefined);
    expect((await get('/health/ready')).text).toContain('no answer within 3000 ms');
  });

  it('knows no other path', async () => {
    expect((await get('/')).status).toBe(404);
  });

  it('serves what promtool accepts without a complaint', async () => {
    const { status, type, text } = await get('/metrics');
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    if (checked.error) return; // promtool comes with Debian's prometheus package; the run that has it decides
    expect(checked.stdout + checked.stderr).toBe('');
    expect(checked.status).toBe(0);
  });
});
