import { NightshiftError } from '@nightshift/contracts';
import { fromHttpStatus, problemOf } from './problem';

describe('problemOf', () => {
  it('lists every fault of an invalid body', () => {
    const error = new NightshiftError('INVALID_ARGUMENT', 'the body has 2 faults', {
      faults: ['goal: expected text', 'x: unknown'],
    });
    expect(problemOf(error, '/v1/tasks')).toEqual({
      type: 'urn:nightshift:problem:invalid-argument',
      title: 'The request is not valid',
      status: 400,
      detail: 'the body has 2 faults',
      instance: '/v1/tasks',
      code: 'INVALID_ARGUMENT',
      faults: ['goal: expected text', 'x: unknown'],
    });
  });

  it('keeps the text of an internal fault inside', () => {
    const problem = problemOf(NightshiftError.from(new Error('relation "secret" does not exist')), '/v1/tasks');
    expect(problem.status).toBe(500);
    expect(JSON.stringify(problem)).not.toContain('secret');
  });

  it('carries the hint when to come back and the numbers', () => {
    const error = new NightshiftError('BUSY', 'slow down', { retryAfterMs: 1500, details: { limit: 3 } });
    expect(problemOf(error, '/')).toMatchObject({ status: 429, retryAfterMs: 1500, details: { limit: 3 } });
  });
});

describe('fromHttpStatus', () => {
  it.each([
    [413, 'PAYLOAD_TOO_LARGE', /at most 1000 bytes/],
    [415, 'INVALID_ARGUMENT', /cannot be read/],
    [400, 'INVALID_ARGUMENT', /cannot be read/],
    [404, 'NOT_FOUND', /no such operation/],
    [500, 'INTERNAL', /boom/],
  ] as const)('names %d', (status, code, text) => {
    const error = fromHttpStatus(status, 'boom', 1000);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(text);
  });
});
