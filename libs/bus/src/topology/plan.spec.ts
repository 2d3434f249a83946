import { routes } from '@nightshift/contracts';
import { consumerPlan, streamPlan, streamRoutesOf, topology } from './plan';

describe('the topology', () => {
  it('is a work queue per command: refuses when full, keeps for ever, one durable per exact subject', () => {
    expect(streamPlan(routes.taskStep)).toEqual({
      name: 'TASK_STEP',
      subject: 'nightshift.task.step.v1',
      retention: 'workqueue',
      discard: 'new',
      maxBytes: 64 * 1024 * 1024,
      maxAgeMs: 0,
      duplicateWindowMs: 120_000,
    });
    expect(consumerPlan(routes.taskStep, 'orchestrator', 30_000)).toEqual({
      stream: 'TASK_STEP',
      name: 'orchestrator',
      filter: 'nightshift.task.step.v1',
      ackWaitMs: 30_000,
      maxDeliver: 10,
      maxAckPending: 20_000,
    });
  });

  it('has one durable per runner', () => {
    expect(streamPlan(routes.toolRun).subject).toBe('nightshift.tool.run.v1.*');
    expect(consumerPlan(routes.toolRun, 'tool-runner', 30_000, 'r1')).toMatchObject({
      name: 'tool-runner-r1',
      filter: 'nightshift.tool.run.v1.r1',
    });
  });

  it('lets events go, oldest first, after an hour', () => {
    expect(streamPlan(routes.taskChanged)).toMatchObject({ retention: 'limits', discard: 'old', maxAgeMs: 3_600_000 });
  });

  it('gives a sender its queue before the owner ever ran', () => {
    expect(streamRoutesOf('orchestrator').map((route) => route.name)).toEqual(
      expect.arrayContaining(['taskStep', 'compactionRun', 'toolRun', 'toolFinished', 'toolresultRootEnded']),
    );
    expect(streamRoutesOf('compactor').map((route) => route.name)).toEqual(['compactionRun', 'compactionFinished']);
  });

  it('fits a small disk: less than 1 GB for all streams together', () => {
    const bytes = topology(30_000).streams.reduce((sum, stream) => sum + stream.maxBytes, 0);
    expect(bytes).toBeLessThan(1e9);
  });
});
