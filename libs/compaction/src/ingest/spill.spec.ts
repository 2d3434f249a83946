import { planSpill, previewCharsFor, readChars, spillsFirstMessage } from './spill';

const result = (id: string, chars: number): { id: string; chars: number; tokens: number } => ({
  id,
  chars,
  tokens: Math.floor(chars / 4),
});

test('a result above 20 000 characters is spilled, one of 20 000 is not', () => {
  expect(planSpill([result('a', 20_000), result('b', 20_001)], 100_000)).toEqual(['b']);
});

test('the results of one batch stay within its share, the largest spilled first', () => {
  expect(planSpill([result('a', 8_000), result('b', 16_000), result('c', 12_000)], 6_500)).toEqual(['b']);
  expect(planSpill([result('a', 8_000), result('b', 16_000), result('c', 12_000)], 4_000)).toEqual(['b', 'c']);
});

test('a lowered limit spills what was fine before', () => {
  expect(planSpill([result('a', 3_001), result('b', 3_000)], 100_000, 3_000)).toEqual(['a']);
});

test('previews of one batch share what the batch may take', () => {
  expect([previewCharsFor(1, 10_000), previewCharsFor(10, 5_000), previewCharsFor(100, 100)]).toEqual([3_000, 2_000, 200]);
});

test('a read returns at most half of the room and a fifth of Q, never more than what would be spilled', () => {
  expect([readChars(10_000, 100_000), readChars(4_000, 100_000), readChars(50_000, 4_000), readChars(-5, 4_000)]).toEqual([
    15_000, 6_000, 2_400, 500,
  ]);
  expect(readChars(100_000, 100_000)).toBe(20_000);
});

test('a first message above a quarter of H is spilled', () => {
  expect([spillsFirstMessage(2_000, 8_000), spillsFirstMessage(2_001, 8_000)]).toEqual([false, true]);
});
