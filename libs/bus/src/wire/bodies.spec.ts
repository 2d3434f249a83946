import { errorCodes, NightshiftError, task, type ErrorCode } from '@nightshift/contracts';
import { abortReason, decodeBody, decodeError, encodeBody, encodeError } from './bodies';
import { error as wire } from '@nightshift/contracts';

describe('a body', () => {
  it('survives the wire', () => {
    expect(decodeBody(task.StepSchema, encodeBody(task.StepSchema, { taskId: 't', epoch: 7 }))).toMatchObject({
      taskId: 't',
      epoch: 7,
    });
  });

  it('that is none is INVALID_ARGUMENT naming what was expected', () => {
    expect(() => decodeBody(task.StepSchema, new Uint8Array([255]))).toThrow(
      'INVALID_ARGUMENT: expected a nightshift.task.v1.Step',
    );
  });
});

describe('an error', () => {
  it.each(Object.keys(errorCodes) as ErrorCode[])('keeps its code, text, faults, hint and details: %s', (code) => {
    const options = { faults: ['a: b', 'c: d'], retryAfterMs: 12, details: { tokens: 5, nested: { list: [1] } } };
    const { text, faults, retryAfterMs, details, ...rest } = decodeError(encodeError(new NightshiftError(code, 'why', options)));
    expect({ code: rest.code, text, faults, retryAfterMs, details }).toEqual({ code, text: 'why', ...options });
  });

  it.each([
    ['an Error', new TypeError('x'), 'INTERNAL: x'],
    ['a text', 'x', 'INTERNAL: x'],
    ['nothing', undefined, 'INTERNAL: undefined'],
  ])('of another kind is INTERNAL: %s', (_what, thrown, message) => {
    expect(decodeError(encodeError(thrown)).message).toBe(message);
  });

  it('with a code of a newer peer is INTERNAL and keeps what it meant', () => {
    const bytes = encodeBody(wire.ErrorSchema, { code: 'FROM_THE_FUTURE', message: 'why' });
    expect(decodeError(bytes).message).toBe('INTERNAL: FROM_THE_FUTURE: why');
  });

  it('carries bigint details as numbers and rounds the hint up', () => {
    const back = decodeError(encodeError(new NightshiftError('BUSY', 'x', { retryAfterMs: 0.2, details: { at: 5n } })));
    expect([back.details, back.retryAfterMs]).toEqual([{ at: 5 }, 1]);
  });
});

describe('abortReason', () => {
  it('gives our own error as it is, and anything else as CANCELLED', () => {
    const own = new NightshiftError('DEADLINE_EXCEEDED', 'late');
    expect(abortReason(AbortSignal.abort(own))).toBe(own);
    expect(abortReason(AbortSignal.abort())).toMatchObject({ code: 'CANCELLED' });
  });
});
