import { outputToSend } from './output';
import { policyWith } from './policy';
import { budgetsFor } from './room';
import { isOver, thresholdFor } from './threshold';
import type { FixedParts } from './threshold';

describe('the threshold is half of the window, capped', () => {
  const table: [window: number, maxOutput: number, threshold: number, applied: string, overrides?: object][] = [
    [1_000, 0, 2_000, 'floor'],
    [4_096, 0, 2_000, 'floor'],
    [8_192, 0, 2_000, 'floor'],
    [8_192, 1_024, 4_096, 'fraction'],
    [10_193, 0, 2_001, 'room'],
    [12_288, 0, 4_096, 'room'],
    [12_288, 4_096, 6_144, 'fraction'],
    [16_384, 0, 8_192, 'fraction'],
    [32_000, 0, 16_000, 'fraction'],
    [32_768, 0, 16_384, 'fraction'],
    [65_536, 0, 32_768, 'fraction'],
    [131_072, 0, 65_536, 'fraction'],
    [196_608, 0, 98_304, 'fraction'],
    [200_000, 0, 100_000, 'fraction'],
    [256_000, 0, 128_000, 'fraction'],
    [262_144, 0, 128_000, 'fraction'],
    [512_000, 0, 128_000, 'fraction'],
    [1_048_576, 0, 128_000, 'fraction'],
    [2_000_000, 0, 128_000, 'fraction'],
    [272_000, 256_000, 128_000, 'fraction'],
    [1_000_000, 500_000, 128_000, 'fraction'],
    [272_000, 256_000, 136_000, 'room', { fraction: 0.9 }],
    [1_000_000, 500_000, 500_000, 'room', { fraction: 0.9, cap: 1_000_000 }],
  ];
  test.each(table)('window %i, max output %i: %i by the %s', (window, maxOutput, threshold, applied, ...[overrides]) => {
    const result = thresholdFor({ window, maxOutput, policy: policyWith(overrides ?? {}) });
    expect({ threshold: result.threshold, applied: result.applied }).toEqual({ threshold, applied });
  });

  test('fires above the threshold and never at it', () => {
    const threshold = thresholdFor({ window: 256_000 });
    expect([isOver(128_000, threshold), isOver(128_001, threshold)]).toEqual([false, true]);
  });

  test('an unknown window is 32 000 with a flag, never 0; the real one takes effect once it arrives', () => {
    const unknown = thresholdFor({ window: 0 });
    const known = thresholdFor({ window: 1_048_576 });
    expect([unknown.threshold, unknown.unknown, isOver(20_000, unknown)]).toEqual([16_000, true, true]);
    expect([known.unknown, isOver(20_000, known)]).toEqual([false, false]);
  });

  test('a smaller input limit of the provider takes the place of the window in the fraction', () => {
    expect(thresholdFor({ window: 400_000, inputMax: 120_000 })).toMatchObject({ threshold: 60_000, hardLimit: 120_000 });
    expect(thresholdFor({ window: 400_000, inputMax: 900_000 }).threshold).toBe(128_000);
  });

  test('policy values out of range are named together', () => {
    expect(() => policyWith({ fraction: 0.95, cap: 0 })).toThrow(
      expect.objectContaining({ faults: ['fraction: 0.1 to 0.9, got 0.95', 'cap: a whole number from 1, got 0'] }),
    );
  });

  test('a floor that leaves no room for the output is refused', () => {
    expect(() => thresholdFor({ window: 32_000, policy: policyWith({ floor: 30_000 }) })).toThrow(/floor 30000 exceeds/);
  });
});

describe('small windows', () => {
  const fixed = (tools: number): FixedParts => ({ system: 1_000, tools, firstMessage: 0, goalAndPlan: 0 });

  test.each([
    [8_192, 4_000, 5_858, true],
    [16_384, 9_000, 11_716, true],
    [200_000, 9_000, 100_000, false],
    [200_000, 99_000, 108_000, true],
  ])('window %i with %i tokens of tools and 1 000 of prompt: %i in effect, tight %s', (window, tools, effective, tight) => {
    const result = thresholdFor({ window, fixed: fixed(tools) });
    expect({ effective: result.effective, tight: result.tight, irreducible: result.irreducible }).toEqual({
      effective,
      tight,
      irreducible: undefined,
    });
  });

  test('less than 1 000 tokens beside the fixed parts is irreducible, with sizes and the smallest window that would do', () => {
    const { irreducible } = thresholdFor({
      window: 8_192,
      fixed: { system: 2_000, tools: 3_000, firstMessage: 200, goalAndPlan: 100 },
    });
    expect(irreducible).toEqual({
      parts: { system: 2_000, tools: 3_000, firstMessage: 200, goalAndPlan: 100 },
      fixed: 5_300,
      room: 844,
      smallestWindow: 8_399,
      message:
        'system prompt 2000, tool schemas 3000, first message 200, goal and plan 100 tokens leave 844 of window 8192; ' +
        'the smallest window that would do is 8399',
    });
    expect(thresholdFor({ window: 8_399, fixed: fixed(4_300) }).irreducible).toBeUndefined();
  });
});

describe('output really sent', () => {
  test.each([
    [{ window: 272_000, maxOutput: 256_000, measured: 128_000, mandatory: false }, 141_440, false],
    [{ window: 200_000, maxOutput: 0, outputMax: 64_000, measured: 50_000, mandatory: true }, 64_000, false],
    [{ window: 200_000, maxOutput: 0, measured: 50_000, mandatory: false }, undefined, false],
    [{ window: 200_000, maxOutput: 32_000, measured: 190_000, mandatory: false }, 6_200, false],
    [{ window: 200_000, maxOutput: 32_000, measured: 194_000, mandatory: false }, 2_120, true],
    [{ window: 200_000, maxOutput: 1_000, measured: 100_000, mandatory: true }, 1_000, false],
    [{ window: 8_192, maxOutput: 0, measured: 6_500, mandatory: false }, undefined, true],
  ])('%j sends %s, compact first %s', (input, tokens, compactFirst) => {
    const plan = outputToSend(input);
    expect([plan.tokens, plan.compactFirst]).toEqual([tokens, compactFirst]);
  });
});

test('every budget full together stays below the landing line at every window', () => {
  for (let effective = 1_000; effective < 2_000_000; effective = Math.floor(effective * 1.13)) {
    const budgets = budgetsFor({ parts: { fraction: 0, reserve: 0, room: 0, fixed: 400 } }, effective);
    const { tail, users, summary, files, placeholders, landing } = budgets;
    expect(400 + tail + users + summary + files + placeholders).toBeLessThanOrEqual(landing);
  }
});
