import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { thresholdFor } from '@nightshift/compaction';
import { compaction, task } from '@nightshift/contracts';
import { givenRow } from '../scripted/given';
import type { RowGiven } from '../scripted/given';
import { foldPass } from './fold-pass';
import type { FoldedPass } from './fold-pass';

const { PassOutcome, PassReason } = compaction;
const { Pending, TaskState } = task;

interface Given {
  readonly row?: RowGiven;
  readonly reason?: compaction.PassReason;
  readonly measured?: number;
  readonly window?: number;
  readonly finished?: { outcome?: compaction.PassOutcome; before?: number; after?: number; summaryFailed?: boolean };
  readonly checkpoint?: MessageInitShape<typeof compaction.CheckpointSchema> | 'none';
  readonly largerCandidate?: number;
  readonly back?: { state: task.TaskState; pending: task.Pending; reason: string };
}

function fold(given: Given): FoldedPass {
  const measured = given.measured ?? 120_000;
  return foldPass({
    row: givenRow({
      state: TaskState.COMPACTING,
      pending: Pending.COMPACTION,
      passId: 'pass',
      ...given.row,
      memory: {
        over: true,
        pass: { reason: given.reason ?? PassReason.THRESHOLD, measured, back: given.back },
        ...given.row?.memory,
      },
    }),
    finished: create(compaction.FinishedSchema, {
      passId: 'pass',
      outcome: PassOutcome.REDUCED,
      before: measured,
      after: 20_000,
      ...given.finished,
    }),
    checkpoint:
      given.checkpoint === 'none'
        ? undefined
        : create(compaction.CheckpointSchema, (given.checkpoint as object) ?? { summary: 's' }),
    threshold: thresholdFor({ window: given.window ?? 200_000 }),
    provider: 'p',
    model: 'm',
    largerCandidate: given.largerCandidate ?? -1,
    largest: 'toolResult of about 40000 tokens (entry 12)',
    elapsedMs: 2_500,
  });
}

function seen({ outcome, passOutcome, checkpoint }: FoldedPass): Record<string, unknown> {
  const { row } = outcome;
  return {
    outcome: PassOutcome[passOutcome],
    state: TaskState[row.state ?? 0],
    pending: Pending[row.pending ?? 0],
    generation: row.generation,
    checkpoint: checkpoint?.generation,
    over: row.memory?.over,
    failures: row.memory?.breaker.failures,
  };
}
const runs = { state: 'RUNNING', pending: 'STEP' };
const committed = { ...runs, generation: 1, checkpoint: 1, over: false, failures: 0 };
const not = { ...runs, generation: 0, checkpoint: undefined, over: true, failures: 0 };

describe('folding the result of a pass', () => {
  it.each<readonly [string, Given, Record<string, unknown>]>([
    ['a reduced view is the next generation', {}, { ...committed, outcome: 'REDUCED' }],
    ['so is a degraded one', { finished: { outcome: PassOutcome.DEGRADED } }, { ...committed, outcome: 'DEGRADED' }],
    [
      'one that is smaller but still above is committed, stays above, and is no second hit',
      { finished: { outcome: PassOutcome.INSUFFICIENT, after: 110_000 } },
      { ...committed, outcome: 'INSUFFICIENT', over: true },
    ],
    [
      'one that grew commits nothing and is a failure',
      { finished: { after: 130_000 } },
      { ...not, outcome: 'FAILED', failures: 1 },
    ],
    ['one without a checkpoint commits nothing', { checkpoint: 'none' }, { ...not, outcome: 'FAILED', failures: 1 }],
    [
      'a failed one leaves everything as it was',
      { finished: { outcome: PassOutcome.FAILED } },
      { ...not, outcome: 'FAILED', failures: 1 },
    ],
    ['a window that grew meanwhile drops the result', { window: 1_048_576 }, { ...not, outcome: 'NO_LONGER_DUE', over: false }],
    [
      'a forced pass is committed whatever the window says',
      { reason: PassReason.OVERFLOW, window: 1_048_576 },
      { ...committed, outcome: 'REDUCED' },
    ],
    [
      'a pass by hand goes back to waiting',
      { reason: PassReason.MANUAL, back: { state: TaskState.WAITING, pending: Pending.USER, reason: 'asked' } },
      { ...committed, outcome: 'REDUCED', state: 'WAITING', pending: 'USER' },
    ],
    [
      'unless the answer came in meanwhile',
      {
        reason: PassReason.MANUAL,
        back: { state: TaskState.WAITING, pending: Pending.USER, reason: 'asked' },
        row: { inbox: true },
      },
      { ...committed, outcome: 'REDUCED', state: 'WAITING', pending: 'STEP' },
    ],
  ])('%s', (_rule, given, expected) => {
    expect(seen(fold(given))).toEqual(expected);
  });

  it('a commit voids the old usage report; a failed pass leaves it', () => {
    const usage = {
      input: 1,
      generation: 0,
      through: 5,
      viewEstimate: 1,
      provider: 'p',
      model: 'm',
      prefix: 'h',
      prefixEstimate: 1,
    };
    expect(fold({ row: { memory: { usage } } }).outcome.row.memory?.usage).toBeUndefined();
    expect(fold({ row: { memory: { usage } }, finished: { outcome: PassOutcome.FAILED } }).outcome.row.memory?.usage).toEqual(
      usage,
    );
  });

  it('the third failure in a row trips the breaker, once', () => {
    const breaker = { failures: 2, open: false, measuredAtFailure: 110_000, provider: 'p', model: 'm' };
    const { outcome } = fold({ row: { memory: { breaker } }, finished: { outcome: PassOutcome.FAILED } });
    expect(outcome.row.memory?.breaker).toEqual({
      failures: 3,
      open: true,
      measuredAtFailure: 120_000,
      provider: 'p',
      model: 'm',
    });
    expect(outcome.events.map(({ kind }) => kind)).toEqual(['compaction_finished', 'breaker_tripped']);
    expect(outcome.counted).toContainEqual({ metric: 'compaction_breaker_trips', labels: {}, value: 1 });
  });

  it.each([
    ['first the spill limit', { met: 0 }, -1, 'lower_spill', { notes: 1, state: 'RUNNING', chainPosition: undefined }],
    ['then a larger window', { met: 1 }, 2, 'next_candidate', { notes: 0, state: 'RUNNING', chainPosition: 2 }],
    ['then a person', { met: 2 }, -1, 'pause', { notes: 0, state: 'PAUSED', chainPosition: undefined }],
  ])('rapid refill: %s', (_title, { met }, largerCandidate, action, expected) => {
    const memory = { refill: { passesAtCalls: [8, 9], met }, spend: { input: 0, output: 0, cacheRead: 0, calls: 10 } };
    const { outcome } = fold({ row: { memory }, largerCandidate });
    expect(outcome.events.find(({ kind }) => kind === 'rapid_refill')?.data).toMatchObject({
      action,
      largest: expect.stringContaining('entry 12'),
    });
    expect({
      notes: outcome.entries.length,
      state: TaskState[outcome.row.state ?? 0],
      chainPosition: outcome.row.chainPosition,
    }).toEqual(expected);
  });

  it('counts one outcome, and the tokens only of a commit', () => {
    const { outcome } = fold({});
    expect(outcome.counted).toEqual([
      { metric: 'compaction_passes', labels: { outcome: 'reduced', summary: 'ok' }, value: 1 },
      { metric: 'compaction_tokens_saved', labels: {}, value: 100_000 },
    ]);
    expect(fold({ finished: { outcome: PassOutcome.CANCELLED } }).outcome.observed).toEqual([
      { metric: 'compaction_duration_seconds', value: 2.5 },
    ]);
  });
});
