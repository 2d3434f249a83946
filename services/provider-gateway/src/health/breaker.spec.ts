import {
  admission,
  afterFailure,
  afterNeutral,
  afterSuccess,
  breakerPolicy,
  closedBreaker,
  merged,
  nothingSeen,
  withProbe,
  type Failed,
  type SharedBreaker,
} from './breaker';

const fault: Failed = { reason: 'server', opensAtOnce: false, stayAwayMs: 0 };
const { firstOpenMs, longestOpenMs, accountOpenMs, probeSpacingMs, spanMs } = breakerPolicy;

/** Plays outcomes (F, S, N = neutral) at one-second steps from the closed state. */
function play(outcomes: string, start: SharedBreaker = closedBreaker, stepMs = 1_000): { shared: SharedBreaker; trips: number } {
  let state = { shared: start, seen: nothingSeen, tripped: false };
  let trips = 0;
  [...outcomes].forEach((outcome, index) => {
    const now = index * stepMs;
    state =
      outcome === 'F'
        ? afterFailure(state.shared, state.seen, fault, now)
        : outcome === 'S'
          ? afterSuccess(state.shared, state.seen, now)
          : afterNeutral(state.shared, state.seen, now);
    if (state.tripped) trips++;
  });
  return { shared: state.shared, trips };
}
const open: SharedBreaker = { ...closedBreaker, state: 'open', generation: 1, openUntil: 30_000, openMs: firstOpenMs, trips: 1 };

describe('a breaker', () => {
  it.each([
    ['two failures in a row are not enough', 'FF', 'closed'],
    ['three failures in a row open it', 'FFF', 'open'],
    ['successes in between start the row again', 'SSSSFFS', 'closed'],
    ['a provider that flaps opens it although every other call succeeds', 'FSF', 'open'],
    ['few failures among many successes do not', 'SSSSFSSSF', 'closed'],
    ['outcomes that say nothing count neither way', 'FNNFNN', 'closed'],
    ['aborts alone never open it', 'NNNNNNNN', 'closed'],
  ])('%s', (_title, outcomes, state) => {
    expect(play(outcomes).shared.state).toBe(state);
  });

  it('forgets outcomes after a minute', () => {
    expect(play('FSF', closedBreaker, spanMs).shared.state).toBe('closed');
  });

  it('counts one trip however many failures arrive late', () => {
    expect(play('FFFFFF').trips).toBe(1);
  });

  it.each([
    ['a refused key opens it at once', { ...fault, opensAtOnce: true }, accountOpenMs],
    ['a waiting hint is obeyed, however long', { ...fault, stayAwayMs: 14_000_000 }, 14_000_000],
    ['a short hint does not shorten the usual time', { ...fault, stayAwayMs: 6_000 }, firstOpenMs],
    ['a spent quota with its reset is closed until then', { ...fault, opensAtOnce: true, stayAwayMs: 7_200_000 }, 7_200_000],
  ])('%s', (_title, failed, openFor) => {
    const { shared } = afterFailure(closedBreaker, nothingSeen, failed, 1_000);
    expect(shared).toMatchObject({ state: 'open', openUntil: 1_000 + openFor, trips: 1, reason: 'server' });
  });

  it('keeps the later of two deadlines', () => {
    const far = { ...open, openUntil: 900_000 };
    expect(afterFailure(far, nothingSeen, { ...fault, stayAwayMs: 10_000 }, 1_000).shared.openUntil).toBe(900_000);
  });

  it('refuses while open, then lets one probe through, and nobody else while its lease lasts', () => {
    expect(admission(open, 29_999)).toBe('refuse');
    expect(admission(open, 30_000)).toBe('probe');
    const probing = withProbe(open, 'a', 30_000);
    expect(admission(probing, 30_001)).toBe('refuse');
    expect(admission(probing, 30_000 + breakerPolicy.probeLeaseMs)).toBe('probe');
  });

  it('closes after three probes in a row, with a pause between them', () => {
    let shared = open;
    const states: string[] = [];
    for (const now of [30_000, 40_000, 50_000]) {
      shared = afterSuccess(withProbe(shared, 'a', now), nothingSeen, now + 1_000).shared;
      states.push(`${shared.state} ${shared.probesPassed}`);
      if (shared.state === 'half_open') {
        expect([admission(shared, now + 1_001), admission(shared, now + 1_000 + probeSpacingMs)]).toEqual(['refuse', 'probe']);
        // Who has no other candidate need not wait for the pause to end.
        expect(admission(shared, now + 1_001, true)).toBe('probe');
      }
    }
    expect(states).toEqual(['half_open 1', 'half_open 2', 'closed 0']);
  });

  it('opens for twice as long when the probe fails, up to a limit', () => {
    let shared = open;
    const lengths: number[] = [];
    for (let now = 1_000_000; lengths.length < 6; now += 1_000_000) {
      shared = afterFailure(withProbe(shared, 'a', now), nothingSeen, fault, now).shared;
      lengths.push(shared.openUntil - now);
    }
    expect(lengths).toEqual([60_000, 120_000, 240_000, longestOpenMs, longestOpenMs, longestOpenMs]);
  });

  it('opens again at the first failure right after it closed', () => {
    const closed = { ...closedBreaker, generation: 4, openMs: firstOpenMs, changedAt: 10_000 };
    expect(afterFailure(closed, nothingSeen, fault, 20_000).shared).toMatchObject({ state: 'open', openMs: 2 * firstOpenMs });
    expect(afterFailure(closed, nothingSeen, fault, 10_000 + 2 * firstOpenMs).shared.state).toBe('closed');
  });

  it('gives the probe back when its outcome says nothing', () => {
    const back = afterNeutral(withProbe(open, 'a', 30_000), nothingSeen, 31_000).shared;
    expect(admission(back, 31_000)).toBe('probe');
  });

  it('merges two views by generation, then by the later deadline', () => {
    const newer = { ...closedBreaker, generation: 2 };
    expect(merged(open, newer)).toBe(newer);
    const longer = { ...open, openUntil: 99_000 };
    expect([merged(open, longer), merged(longer, open)]).toEqual([longer, longer]);
  });
});
