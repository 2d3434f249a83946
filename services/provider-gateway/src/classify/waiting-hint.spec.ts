import { readEnvelope } from './envelope';
import { parseDuration, parseInstant, parseRetryAfter, waitingHint } from './waiting-hint';

const now = Date.UTC(2026, 11, 1, 12, 0, 0);

describe('Retry-After', () => {
  it.each<[string, number | undefined]>([
    ['120', 120_000],
    ['1.5', 1_500],
    ['0', 0],
    ['6m0s', 360_000],
    ['20ms', 20],
    ['11.054s', 11_054],
    ['Tue, 01 Dec 2026 12:00:30 GMT', 30_000],
    ['Tuesday, 01-Dec-26 12:00:30 GMT', 30_000],
    ['Tue Dec  1 12:00:30 2026', 30_000],
    ['2026-12-01T12:00:07Z', 7_000],
    ['Tue, 01 Dec 2020 12:00:30 GMT', 0],
    ['-3', undefined],
    ['+3', undefined],
    ['1e3', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['', undefined],
    ['soon', undefined],
  ])('%j is %p ms', (text, expected) => {
    expect(parseRetryAfter(text, now)).toBe(expected);
  });

  it('never takes a bare number for a date', () => {
    for (const text of ['-3', '1.5', '0', '2001']) expect(parseInstant(text, now)).toBeUndefined();
  });

  it('reads no unit into a bare number', () => {
    expect(parseDuration('12')).toBeUndefined();
  });
});

describe('the order of hints', () => {
  const hint = (headers: Record<string, string>, error: object = {}): number | undefined =>
    waitingHint(headers, readEnvelope({ ...error }, ''), now);
  it.each<[string, Record<string, string>, object, number | undefined]>([
    ['milliseconds before seconds', { 'retry-after-ms': '700', 'retry-after': '1' }, {}, 700],
    ['headers before the body', { 'retry-after': '1' }, { resets_in_seconds: 9 }, 1_000],
    ['junk in a header falls through to the body', { 'retry-after': '-1' }, { resets_in_seconds: 9 }, 9_000],
    ['epoch seconds', {}, { resets_at: now / 1_000 + 5 }, 5_000],
    ['RetryInfo', {}, { details: [{ retryDelay: '36s' }] }, 36_000],
    ['text in seconds', {}, { message: 'Please try again in 11.054s.' }, 11_054],
    ['text in minutes', {}, { message: 'Please try again in 7m12.5s.' }, 432_500],
    ['text in milliseconds', {}, { message: 'Please try again in 120ms.' }, 120],
    ['text in words', {}, { message: 'retry after 45 seconds' }, 45_000],
    [
      'an empty bucket',
      { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2026-12-01T12:00:09Z' },
      {},
      9_000,
    ],
    [
      'the longest of several empty buckets',
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '6m0s',
      },
      {},
      360_000,
    ],
    ['nothing', {}, { message: 'overloaded' }, undefined],
  ])('%s', (_title, headers, error, expected) => {
    expect(hint(headers, error)).toBe(expected);
  });
});
