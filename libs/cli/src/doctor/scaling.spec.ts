import { scalingAdvice, type Advice, type CompactionQueue } from './scaling';

const queue = (over: Partial<CompactionQueue> = {}): CompactionQueue => ({
  pending: 0,
  inFlight: 0,
  waitingPulls: 0,
  oldestMs: 0,
  ...over,
});

describe('scalingAdvice', () => {
  const cases: [string, CompactionQueue, Advice][] = [
    [
      'needs one worker at most while nothing is due',
      queue({ waitingPulls: 1 }),
      {
        desired: 0,
        served: true,
        words: 'No pass is due and 1 worker waits for work: one compactor is enough, and zero would do.',
      },
    ],
    [
      'says so when the pool was scaled to zero',
      queue(),
      { desired: 0, served: true, words: 'No pass is due and no worker is running: one compactor is enough, and zero would do.' },
    ],
    [
      'is alarmed when passes wait and nobody takes them',
      queue({ pending: 5, oldestMs: 61_000 }),
      {
        desired: 2,
        served: false,
        words:
          '5 passes are due (5 waiting, 0 in flight, the oldest for 61 s) and nobody takes them: start 2 compactors; one compactor runs 4 passes at a time.',
      },
    ],
    [
      'counts what is in flight, so that a busy pool is not shrunk below its work',
      queue({ inFlight: 9, waitingPulls: 1, oldestMs: 2_500 }),
      {
        desired: 3,
        served: true,
        words:
          '9 passes are due (0 waiting, 9 in flight, the oldest for 2.5 s) and none waits: 3 compactors are enough; one compactor runs 4 passes at a time.',
      },
    ],
    [
      'asks for more workers when every slot is busy',
      queue({ pending: 12, inFlight: 4, oldestMs: 30_000 }),
      {
        desired: 4,
        served: true,
        words:
          '16 passes are due (12 waiting, 4 in flight, the oldest for 30 s) and every slot is busy: scale from about 1 to 4 compactors; one compactor runs 4 passes at a time.',
      },
    ],
  ];
  it.each(cases)('%s', (_title, given, expected) => {
    expect(scalingAdvice(given, 4)).toEqual(expected);
  });
});
