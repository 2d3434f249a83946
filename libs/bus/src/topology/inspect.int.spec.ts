import { serviceNames } from '@nightshift/contracts';
import { withNats } from '@nightshift/testing';
import { inspectNats, topology } from '../index';
import { connectSpecBus, startSpecService } from '../../spec-kit/service';
import { routes } from '@nightshift/contracts';

const nats = withNats();

describe('inspectNats', () => {
  it('names every stream that is missing on a fresh server', async () => {
    const report = await inspectNats({ url: nats.url }, 900);
    expect(report.version).toMatch(/^2\./);
    expect(report.faults.filter((fault) => fault.includes('expected this stream'))).toHaveLength(topology(900).streams.length);
  });

  it('finds nothing once the services have run, and tells depth and age of each queue', async () => {
    for (const name of serviceNames) await (await startSpecService(nats.url, name, [])).stop();
    const bus = await connectSpecBus(nats.url, 'orchestrator');
    await bus.command(routes.compactionRun, {}, { team: 't', messageId: 'm' });
    const report = await inspectNats({ url: nats.url }, 900);
    expect(report.faults.filter((fault) => !fault.startsWith('max_payload'))).toEqual([]);
    expect(report.queues).toHaveLength(topology(900).consumers.length);
    expect(report.queues.find((queue) => queue.stream === 'COMPACTION_RUN')).toMatchObject({
      consumer: 'compactor',
      pending: 1,
      inFlight: 0,
      waitingPulls: 0,
      oldestMs: expect.any(Number),
    });
    await bus.close();
  });

  it('names each field that differs from the table', async () => {
    expect((await inspectNats({ url: nats.url }, 5_000)).faults).toContain(
      'TASK_STEP/orchestrator.ack_wait: expected 5000000000, found 900000000',
    );
  });

  it('fails at once when no server is there', async () => {
    await expect(inspectNats({ url: 'nats://127.0.0.1:9' }, 900)).rejects.toThrow('UNAVAILABLE');
  });
});
