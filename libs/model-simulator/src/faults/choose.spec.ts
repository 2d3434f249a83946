import { faultSpec, type FaultCondition, type FaultSpec } from '../config/fault-spec';
import { arm, chooseFault, holds, seededRandom, type FaultSubject } from './choose';

const subject: FaultSubject = {
  request: 3,
  input: 5_000,
  stream: true,
  summary: false,
  summariesBefore: 2,
  raw: () => 'the body',
  msSinceStart: 1_500,
};
const never = (): number => 1;

describe('a condition of a fault', () => {
  it.each<[FaultCondition, boolean]>([
    [{}, true],
    [{ request: 3 }, true],
    [{ request: [1, 2] }, false],
    [{ requestsFrom: 3, requestsThrough: 3 }, true],
    [{ requestsFrom: 4 }, false],
    [{ requestsThrough: 2 }, false],
    [{ inputAbove: 4_999 }, true],
    [{ inputAbove: 5_000 }, false],
    [{ inputBelow: 5_000 }, false],
    [{ stream: false }, false],
    [{ summary: true }, false],
    [{ afterSummaries: 2 }, true],
    [{ afterSummaries: 3 }, false],
    [{ contains: 'body' }, true],
    [{ contains: 'soul' }, false],
    [{ flapping: { downMs: 1_000, upMs: 1_000 } }, false],
    [{ flapping: { downMs: 600, upMs: 600 } }, true],
    [{ probability: 0.5 }, false],
    [{ request: 3, inputAbove: 5_000 }, false],
  ])('%j holds: %s', (condition, expected) => {
    expect(holds(condition, subject, never)).toBe(expected);
  });
});

describe('the faults of a model', () => {
  const fault = (when: FaultCondition, times: FaultSpec['times'] = 1): FaultSpec =>
    faultSpec.parse({ when, times, action: { kind: 'overloaded' } });

  it('the first that holds applies, as often as it may', () => {
    const armed = arm([fault({ request: 9 }), fault({}, 2)]);
    const chosen = [1, 2, 3].map((request) => chooseFault(armed, { ...subject, request }, never)?.action.kind);
    expect(chosen).toEqual(['overloaded', 'overloaded', undefined]);
  });

  it('the same seed gives the same faults', () => {
    const draw = (): boolean[] => {
      const random = seededRandom(7);
      return Array.from({ length: 20 }, () => holds({ probability: 0.3 }, subject, random));
    };
    expect(draw()).toEqual(draw());
    expect(new Set(draw())).toEqual(new Set([true, false]));
  });
});
