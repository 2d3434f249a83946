import { hintForms, type HintForm } from '../config/fault-spec';
import { duration, renderHint } from './hints';

const now = Date.parse('2026-03-05T10:00:00Z');

describe('a waiting hint', () => {
  const expected: Record<HintForm, unknown> = {
    seconds: { headers: { 'retry-after': '2' }, text: '' },
    decimal: { headers: { 'retry-after': '1.5' }, text: '' },
    fraction: { headers: { 'retry-after': '1.5' }, text: '' },
    date: { headers: { 'retry-after': 'Thu, 05 Mar 2026 10:00:01 GMT' }, text: '' },
    date_rfc850: { headers: { 'retry-after': 'Thursday, 05-Mar-26 10:00:01 GMT' }, text: '' },
    date_asctime: { headers: { 'retry-after': 'Thu Mar  5 10:00:01 2026' }, text: '' },
    ms: { headers: { 'retry-after-ms': '1500' }, text: '' },
    vendor_ms: { headers: { 'x-ms-retry-after-ms': '1500' }, text: '' },
    duration: { headers: { 'x-ratelimit-reset-requests': '1.5s' }, text: '' },
    rfc3339: { headers: { 'anthropic-ratelimit-requests-reset': '2026-03-05T10:00:01.500Z' }, text: '' },
    retry_delay: {
      headers: {},
      text: ' Please retry in 1.5s.',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' }],
    },
    resets_in_seconds: { headers: {}, text: '', fields: { resets_in_seconds: 1.5 } },
    resets_at: { headers: {}, text: '', fields: { resets_at: now / 1000 + 1 } },
    text_try_again: { headers: {}, text: ' Please try again in 1.5s.' },
    text_retry_after: { headers: {}, text: ' Please retry after 1.5 seconds.' },
    none: { headers: {}, text: '' },
    negative: { headers: { 'retry-after': '-1.5' }, text: '' },
    junk: { headers: { 'retry-after': 'soon' }, text: '' },
    past_date: { headers: { 'retry-after': 'Thu, 05 Mar 2026 09:00:00 GMT' }, text: '' },
  };

  it.each(hintForms)('of 1.5 seconds in the form %s', (form) => {
    expect(renderHint({ form, seconds: 1.5 }, now)).toEqual(expected[form]);
  });

  it.each([
    [0.02, '20ms'],
    [1, '1s'],
    [11.054, '11.054s'],
    [360, '6m0s'],
  ])('%d seconds as a duration are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});
