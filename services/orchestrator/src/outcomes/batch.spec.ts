import { transcript } from '@nightshift/contracts';
import type { BatchCall } from './batch';
import { planBatch } from './batch';
import { textResult } from './calls';

const call = (id: string, over: Partial<BatchCall> = {}): BatchCall => ({
  callId: id,
  providerId: id,
  position: Number(id),
  wave: 0,
  tool: 'read_file',
  place: 'runner',
  state: 'intended',
  argumentsJson: '{}',
  result: undefined,
  ...over,
});
const done = (id: string, chars = 10, over: Partial<BatchCall> = {}): BatchCall => {
  const result = textResult(
    { callId: id, providerId: id, tool: 'read_file' },
    'word '.repeat(chars / 5),
    transcript.ToolOutcome.FINISHED,
  );
  return call(id, { state: 'finished', result, ...over });
};
const state = (id: string, over: Partial<BatchCall> = {}): BatchCall => call(id, { place: 'state', tool: 'finish', ...over });

function seen(calls: readonly BatchCall[], wave = 0, budget = 10_000): string {
  const plan = planBatch(calls, wave, budget);
  switch (plan.kind) {
    case 'wait':
      return 'wait';
    case 'dispatch':
      return `dispatch ${plan.wave}: ${plan.callIds.join()}`;
    case 'state':
      return `state ${plan.wave}: ${plan.calls.map(({ callId }) => callId).join()}`;
    case 'close':
      return `close ${plan.results.map(({ callId }) => callId).join()}`;
    case 'spill':
      return `spill ${plan.callIds.join()}`;
  }
}

describe('what an open batch needs next', () => {
  it.each([
    ['the rest of the wave is waited for', seen([done('1'), call('2', { state: 'started' })]), 'wait'],
    [
      'the next wave starts when the one before is closed',
      seen([done('1'), call('2', { wave: 1 }), call('3', { wave: 2 })]),
      'dispatch 1: 2',
    ],
    ['a wave of reads starts together', seen([call('1'), call('2')], -1), 'dispatch 0: 1,2'],
    ['own tools wait for the calls before them', seen([call('1', { state: 'started' }), state('2', { wave: 1 })]), 'wait'],
    ['and run after them', seen([done('1'), state('2', { wave: 1 }), state('3', { wave: 1 })]), 'state 1: 2,3'],
    ['results are appended in the order of their calls', seen([done('3'), done('1'), done('2')]), 'close 1,2,3'],
    [
      'a failed call has a result too',
      seen([done('1', 10, { state: 'failed' }), done('2', 10, { state: 'unknown' })]),
      'close 1,2',
    ],
    [
      'a batch above its share spills the largest first',
      seen([done('1', 12_000), done('2', 18_000), done('3', 12_000)], 0, 8_000),
      'spill 2',
    ],
    ['and as many as it takes', seen([done('1', 12_000), done('2', 18_000), done('3', 12_000)], 0, 4_500), 'spill 1,2'],
    [
      'small results are never spilled',
      seen(
        Array.from({ length: 9 }, (_v, i) => done(`${i}`, 2_000)),
        0,
        1_000,
      ),
      'close 0,1,2,3,4,5,6,7,8',
    ],
  ])('%s', (_rule, actual, expected) => {
    expect(actual).toBe(expected);
  });
});
