import { bytes, duration, grouped } from './numbers';
import { tokenLine } from './status-line';
import { table } from './table';

describe('numbers', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [43_120, '43 120'],
    [1_000_000, '1 000 000'],
  ])('groups %d as %s', (value, text) => expect(grouped(value)).toBe(text));

  it.each([
    [900, '0.9 s'],
    [12_400, '12 s'],
    [65_000, '1 min 05 s'],
    [3_725_000, '1 h 02 min'],
  ])('shows %d ms as %s', (ms, text) => expect(duration(ms)).toBe(text));

  it.each([
    [12, '12 B'],
    [2048, '2.0 KB'],
    [5 * 1024 * 1024, '5.0 MB'],
  ])('shows %d bytes as %s', (value, text) => expect(bytes(value)).toBe(text));
});

describe('tokenLine', () => {
  const measured = {
    measuredTokens: 43_120,
    threshold: 100_000,
    effectiveThreshold: 0,
    window: 200_000,
    windowSource: 'catalogue',
  };
  it.each([
    [measured, '43 120 / 100 000 tokens, window 200 000 (catalogue)'],
    [{ ...measured, effectiveThreshold: 90_000 }, '43 120 / 90 000 tokens, window 200 000 (catalogue)'],
    [{ ...measured, window: 0 }, '43 120 tokens, window not read yet'],
  ])('shows %j', (task, text) => expect(tokenLine(task)).toBe(text));
});

describe('table', () => {
  it('aligns columns, numbers to the right, and cuts nothing', () => {
    expect(
      table(
        ['name', 'n'],
        [
          ['a', 5],
          ['long name', 12_345],
        ],
      ),
    ).toBe('name            n\na               5\nlong name  12 345\n');
  });

  it('says so when there is nothing', () => {
    expect(table(['a'], [])).toBe('(none)\n');
  });
});
