import { transcript } from '@nightshift/contracts';
import { includeReasoning, mergeRaw, usageOf } from './normal-usage';

describe('usage', () => {
  it('takes per field the last value that is not null', () => {
    const reports = [{ a: 1, nested: { x: 1 } }, { a: null, nested: null }, null, { b: 2, nested: { y: 3 } }, { a: 5 }];
    expect(reports.reduce(mergeRaw, {})).toEqual({ a: 5, b: 2, nested: { x: 1, y: 3 } });
  });

  it.each([
    ['xAI leaves reasoning out of the output', { inputTotal: 2640, outputTotal: 182, reasoning: 672, total: 3494 }, 854],
    ['OpenAI has it inside', { inputTotal: 100, outputTotal: 50, reasoning: 20, total: 150 }, 50],
    ['without a total nothing is guessed', { inputTotal: 100, outputTotal: 50, reasoning: 20 }, 50],
  ])('%s', (_title, numbers, outputTotal) => {
    expect(includeReasoning(numbers).outputTotal).toBe(outputTotal);
  });

  const estimate = { input: 900, output: 30 };
  it.each([
    [
      'a report of a whole answer counts as it is',
      { inputTotal: 10, outputTotal: 5 },
      true,
      { inputTotal: 10, outputTotal: 5, source: transcript.UsageSource.TERMINAL },
    ],
    [
      'a report of a cut answer may lag behind what was written',
      { inputTotal: 10, outputTotal: 1 },
      false,
      { inputTotal: 10, outputTotal: 30, source: transcript.UsageSource.RUNNING },
    ],
    [
      'what is missing is estimated, and the whole marked so',
      { outputTotal: 5 },
      true,
      { inputTotal: 900, outputTotal: 30, source: transcript.UsageSource.ESTIMATED },
    ],
    ['nothing reported', {}, false, { inputTotal: 900, outputTotal: 30, source: transcript.UsageSource.ESTIMATED }],
  ])('%s', (_title, numbers, complete, expected) => {
    expect(usageOf(numbers, {}, complete, estimate)).toMatchObject(expected);
  });
});
