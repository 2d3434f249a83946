import { spawn } from 'node:child_process';
import path from 'node:path';
import { routes } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import type { Bus } from '../index';
import { connectSpecBus } from '../../spec-kit/service';

const nats = withNats();
let bus: Bus;
beforeAll(async () => {
  bus = await connectSpecBus(nats.url, 'orchestrator');
});
afterAll(() => bus.close());

const hook = path.resolve(__dirname, '../../../testing/src/source-hook.cjs');

function start(env: Record<string, string>) {
  const child = spawn(process.execPath, ['-r', hook, path.resolve(__dirname, '../../spec-kit/process.ts')], {
    env: { PATH: process.env['PATH'] ?? '', NATS_URL: nats.url, ACK_WAIT_MS: '5000', ...env },
  });
  const seen = { out: '', err: '' };
  child.stdout.on('data', (data) => (seen.out += String(data)));
  child.stderr.on('data', (data) => (seen.err += String(data)));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, seen, exited };
}

describe('a service process', () => {
  it('ends with 78 and every fault on one line when its configuration is wrong', async () => {
    const { seen, exited } = start({ METRICS_PORT: '70000', LOG_LEVEL: 'loud' });
    expect(await exited).toBe(78);
    expect(seen.err).toMatch(/^INVALID_ARGUMENT: the configuration is not valid$/m);
    expect(seen.err).toMatch(/^ {2}METRICS_PORT: /m);
    expect(seen.err).toMatch(/^ {2}LOG_LEVEL: /m);
  });

  it('waits for NATS instead of giving up, alive but not ready', async () => {
    const { child, exited, seen } = start({ NATS_URL: 'nats://127.0.0.1:9', METRICS_PORT: '0', LOG_LEVEL: 'info' });
    const url = await eventually(() => /"operations":"([^"]+)"/.exec(seen.out)?.[1]);
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, faults: ['service: starting'] }]);
    child.kill('SIGKILL');
    expect(await exited).toBeNull();
  });

  it('finishes what runs at SIGTERM, leaves the rest in the queue, and exits with 0', async () => {
    const { child, seen, exited } = start({ SHUTDOWN_GRACE_MS: '5000' });
    await eventually(() => seen.out.includes('"msg":"ready"'));
    await bus.command(routes.compactionRun, { taskId: 'a' }, { team: 't', messageId: 'a' });
    await eventually(() => seen.out.includes('began a'));
    child.kill('SIGTERM');
    await eventually(() => seen.out.includes('draining'));
    await bus.command(routes.compactionRun, { taskId: 'b' }, { team: 't', messageId: 'b' });
    expect(await exited).toBe(0);
    expect(seen.out).toContain('ended a');
    expect(seen.out).not.toContain('began b');
    const info = await bus.manager.consumers.info('COMPACTION_RUN', 'compactor');
    expect([info.num_pending, info.num_ack_pending]).toEqual([1, 0]);
  });

  it('that was killed in the middle has its message delivered again', async () => {
    const first = start({});
    await eventually(() => first.seen.out.includes('began b'));
    first.child.kill('SIGKILL');
    await first.exited;
    const second = start({});
    await eventually(() => second.seen.out.includes('ended b'), { timeoutMs: 20_000 });
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  }, 40_000);
});
