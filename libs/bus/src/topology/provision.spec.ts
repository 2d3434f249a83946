import { routes } from '@nightshift/contracts';
import { consumerPlan, streamPlan } from './plan';
import { consumerConfig, driftOf, streamConfig } from './provision';

describe('the configuration for the server', () => {
  it('has no list of delays, which would override ack_wait, and nothing newer than server 2.9', () => {
    expect(consumerConfig(consumerPlan(routes.taskStep, 'orchestrator', 30_000))).toEqual({
      durable_name: 'orchestrator',
      filter_subject: 'nightshift.task.step.v1',
      ack_policy: 'explicit',
      deliver_policy: 'all',
      replay_policy: 'instant',
      ack_wait: 30e9,
      max_deliver: 10,
      max_ack_pending: 20_000,
    });
    expect(streamConfig(streamPlan(routes.taskStep))).toEqual({
      name: 'TASK_STEP',
      subjects: ['nightshift.task.step.v1'],
      retention: 'workqueue',
      discard: 'new',
      storage: 'file',
      max_bytes: 67_108_864,
      max_age: 0,
      duplicate_window: 120e9,
    });
  });
});

describe('driftOf', () => {
  it('names each field that differs, and leaves to the server what we do not set', () => {
    expect(driftOf('S', { a: 1, b: ['x'] }, { a: 1, b: ['x'], c: 3 })).toEqual([]);
    expect(driftOf('S', { a: 1, b: ['x'], d: 2 }, { a: 2, b: ['y'] })).toEqual([
      'S.a: expected 1, found 2',
      'S.b: expected ["x"], found ["y"]',
      'S.d: expected 2, found undefined',
    ]);
  });
});
