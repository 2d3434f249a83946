import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import { allowedAfterUndo, breakerAfter, breakerAllows, closedBreaker, forcedAllowed, summaryAllowed } from './breaker';
import type { PassFigures } from './breaker';
import { failureShare, outcomeOf } from './outcome';
import { noRefill, refillAfterPass } from './refill';

const { PassOutcome } = compaction;
const model = { provider: 'p', model: 'm' };
const pass = (over: Partial<PassFigures> = {}): PassFigures => ({
  outcome: PassOutcome.FAILED,
  measured: 100_000,
  before: 100_000,
  after: 100_000,
  effective: 80_000,
  ...model,
  ...over,
});
const after = (...passes: PassFigures[]): compaction.BreakerState =>
  passes.reduce<compaction.BreakerState>((state, one) => breakerAfter(state, one).state, closedBreaker());

describe('the circuit breaker', () => {
  test('opens with the third failure in a row, trips once, and each further failure moves its mark', () => {
    const trips: boolean[] = [];
    let state = closedBreaker();
    for (const measured of [90_000, 95_000, 100_000, 130_000]) {
      const next = breakerAfter(state, pass({ measured }));
      trips.push(next.tripped);
      state = next.state;
    }
    expect({ trips, state }).toEqual({
      trips: [false, false, true, false],
      state: create(compaction.BreakerStateSchema, { failures: 4, open: true, measuredAtFailure: 130_000, ...model }),
    });
  });

  test('open, it lets a pass through only above 25 % growth', () => {
    const open = after(pass(), pass(), pass());
    const allows = (measured: number): boolean => breakerAllows(open, { measured, ...model });
    expect([allows(100_000), allows(125_000), allows(125_001)]).toEqual([false, false, true]);
  });

  test.each([
    ['saved less than 5 % of T′ and stayed above it', pass({ outcome: PassOutcome.INSUFFICIENT, after: 96_001 }), 3],
    ['saved 5 % but stayed above it', pass({ outcome: PassOutcome.INSUFFICIENT, after: 96_000 }), 0],
    ['saved little and landed', pass({ outcome: PassOutcome.REDUCED, before: 80_500, after: 79_000 }), 0],
    ['the window grew meanwhile', pass({ outcome: PassOutcome.NO_LONGER_DUE }), 0],
    ['another pass was faster', pass({ outcome: PassOutcome.CONFLICT }), 0],
  ])('after two failures a pass that %s', (_title, third, failures) => {
    expect(after(pass(), pass(), third)).toEqual(
      create(
        compaction.BreakerStateSchema,
        failures === 0 ? model : { failures, open: true, measuredAtFailure: 100_000, ...model },
      ),
    );
  });

  test('a change of model resets it', () => {
    const open = after(pass(), pass(), pass());
    expect(breakerAllows(open, { measured: 100_000, provider: 'p', model: 'other' })).toBe(true);
    expect(after(pass(), pass(), pass({ model: 'other' }))).toMatchObject({ failures: 1, open: false, model: 'other' });
  });

  test('its state survives being stored', () => {
    const stored = JSON.parse(JSON.stringify({ ...after(pass(), pass(), pass()) })) as compaction.BreakerState;
    expect(breakerAllows(create(compaction.BreakerStateSchema, stored), { measured: 101_000, ...model })).toBe(false);
  });

  test('forced passes are three in a row at most', () => {
    expect([0, 1, 2, 3].map(forcedAllowed)).toEqual([true, true, true, false]);
  });

  test('after an undo no automatic pass runs until 25 % growth or above H', () => {
    const at = (measured: number): boolean => allowedAfterUndo({ measuredAtUndo: 100_000, measured, hardLimit: 120_000 });
    expect([at(101_000), at(120_000), at(120_001), at(125_001)]).toEqual([false, false, true, true]);
  });

  test('three failed summaries in a row skip the tier until 25 % growth', () => {
    const allowed = (failedInARow: number, measured: number): boolean =>
      summaryAllowed({ failedInARow, failedAtTokens: 1_000, measured });
    expect([allowed(2, 1_000), allowed(3, 1_250), allowed(3, 1_251)]).toEqual([true, false, true]);
  });
});

describe('rapid refill', () => {
  const play = (calls: readonly number[], largerCandidate: boolean): string[] => {
    let state = noRefill;
    return calls.map((modelCalls) => {
      const next = refillAfterPass(state, { modelCalls, largerCandidate });
      state = next.state;
      return next.action;
    });
  };

  test('three passes within three model calls: spill more, then a larger window, then a person', () => {
    const calls = [10, 11, 13, 14, 15, 16, 17, 18, 19];
    expect(play(calls, true)).toEqual(['none', 'none', 'lower_spill', 'none', 'none', 'next_candidate', 'none', 'none', 'pause']);
  });

  test('without a larger candidate the second time pauses', () => {
    expect(play([1, 2, 3, 4, 5, 6], false)).toEqual(['none', 'none', 'lower_spill', 'none', 'none', 'pause']);
  });

  test('passes further apart are no refill', () => {
    expect(play([10, 12, 14, 16, 20], true)).toEqual(['none', 'none', 'none', 'none', 'none']);
  });
});

describe('what a pass came to', () => {
  const given = { before: 100, after: 50, effective: 80, committed: true, summaryFailed: false, pruned: false };
  test.each([
    [given, PassOutcome.REDUCED],
    [{ ...given, summaryFailed: true }, PassOutcome.DEGRADED],
    [{ ...given, pruned: true }, PassOutcome.DEGRADED],
    [{ ...given, after: 81 }, PassOutcome.INSUFFICIENT],
    [{ ...given, committed: false }, PassOutcome.FAILED],
  ])('%j', (input, outcome) => {
    expect(outcomeOf(input)).toBe(outcome);
  });

  test('the failure ratio leaves out what was no pass, and counts degraded only when the summary failed', () => {
    const share = (outcome: compaction.PassOutcome, summaryFailed = false): string => {
      const { counted, failed } = failureShare({ outcome, summaryFailed });
      return `${counted ? 'counted' : 'left out'} ${failed ? 'failed' : 'fine'}`;
    };
    expect({
      reduced: share(PassOutcome.REDUCED),
      degraded: share(PassOutcome.DEGRADED),
      degradedBySummary: share(PassOutcome.DEGRADED, true),
      insufficient: share(PassOutcome.INSUFFICIENT),
      failed: share(PassOutcome.FAILED),
      conflict: share(PassOutcome.CONFLICT),
      cancelled: share(PassOutcome.CANCELLED),
      noLongerDue: share(PassOutcome.NO_LONGER_DUE),
    }).toEqual({
      reduced: 'counted fine',
      degraded: 'counted fine',
      degradedBySummary: 'counted failed',
      insufficient: 'counted failed',
      failed: 'counted failed',
      conflict: 'left out fine',
      cancelled: 'left out fine',
      noLongerDue: 'left out fine',
    });
  });
});
