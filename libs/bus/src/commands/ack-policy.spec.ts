import { errorCodes, NightshiftError, type ErrorCode } from '@nightshift/contracts';
import { closeDelivery, openDelivery, type DeliveryFacts } from './ack-policy';

const facts = (over: Partial<DeliveryFacts> = {}): DeliveryFacts => ({
  delivery: 1,
  uncounted: 0,
  limit: 5,
  maxDeliver: 10,
  ackWaitMs: 30_000,
  ...over,
});
const fault = (code: ErrorCode, retryAfterMs = 0) => new NightshiftError(code, 'x', { retryAfterMs });

describe('openDelivery', () => {
  it.each([
    ['the first delivery is handled', facts(), { do: 'handle' }],
    ['the last counted one is handled', facts({ delivery: 5 }), { do: 'handle' }],
    ['the one past the limit is a dead letter', facts({ delivery: 6 }), { do: 'deadLetter', reason: '5 deliveries failed' }],
    ['infrastructure faults do not count', facts({ delivery: 9, uncounted: 4 }), { do: 'handle' }],
    [
      'but what is left over them does',
      facts({ delivery: 9, uncounted: 3 }),
      { do: 'deadLetter', reason: '5 deliveries failed' },
    ],
  ])('%s', (_rule, given, expected) => {
    expect(openDelivery(given)).toEqual(expected);
  });
});

describe('closeDelivery', () => {
  it.each([
    ['done: ack', undefined, facts(), { do: 'ack', outcome: 'ack' }],
    ['somebody else did it: ack', fault('FENCED'), facts(), { do: 'ack', outcome: 'fenced' }],
    ['not wanted any more: ack', fault('CANCELLED'), facts(), { do: 'ack', outcome: 'fenced' }],
    ['infrastructure: back, not counted', fault('UNAVAILABLE'), facts(), { do: 'nak', delayMs: 1_000, counted: false }],
    ['busy: back after the hint, not counted', fault('BUSY', 7_000), facts(), { do: 'nak', delayMs: 7_000, counted: false }],
    ['a hint is bounded', fault('BUSY', 1e9), facts(), { do: 'nak', delayMs: 300_000, counted: false }],
    ['a bug: back, counted', fault('INTERNAL'), facts(), { do: 'nak', delayMs: 1_000, counted: true }],
    ['a refused input: back, counted', fault('INVALID_ARGUMENT'), facts(), { do: 'nak', delayMs: 1_000, counted: true }],
    ['the delay doubles', fault('INTERNAL'), facts({ delivery: 4 }), { do: 'nak', delayMs: 8_000, counted: true }],
    ['the delay ends at ack_wait', fault('UNAVAILABLE'), facts({ delivery: 8 }), { do: 'nak', delayMs: 30_000, counted: false }],
    [
      'the last delivery but one is not given back for an infrastructure fault',
      fault('UNAVAILABLE'),
      facts({ delivery: 9, uncounted: 8 }),
      { do: 'hold', delayMs: 30_000 },
    ],
    ['the delay follows ack_wait', fault('INTERNAL'), facts({ ackWaitMs: 5_000 }), { do: 'nak', delayMs: 167, counted: true }],
  ])('%s', (_rule, thrown, given, expected) => {
    expect(closeDelivery(thrown, given)).toEqual(expected);
  });

  it('never naks without a delay, whatever the code', () => {
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      for (let delivery = 1; delivery <= 10; delivery++) {
        const closing = closeDelivery(fault(code), facts({ delivery }));
        if (closing.do !== 'ack') expect(closing.delayMs).toBeGreaterThan(0);
      }
    }
  });

  it('counts exactly what the table of codes says', () => {
    for (const code of Object.keys(errorCodes) as ErrorCode[]) {
      const closing = closeDelivery(fault(code), facts());
      const uncounted = errorCodes[code].retryable && !errorCodes[code].failedAttempt;
      if (closing.do === 'nak') expect(closing.counted).toBe(!uncounted);
    }
  });
});
