import { NightshiftError, compaction, errorCodes, task } from '@nightshift/contracts';
import type { ErrorCode } from '@nightshift/contracts';
import { givenRow } from '../scripted/given';
import { foldFault } from './provider-fault';

const { Pending, TaskState } = task;
const { PassReason } = compaction;

function seen(
  code: ErrorCode,
  retries = 0,
  details: Record<string, unknown> = {},
  retryAfterMs = 0,
): Record<string, unknown> | undefined {
  const outcome = foldFault(
    givenRow({ memory: { retries } }),
    new NightshiftError(code, 'said so', { details, retryAfterMs }),
    2,
  );
  if (!outcome) return undefined;
  const { state, pending, memory, dueInMs, chainPosition } = outcome.row;
  return {
    state: state && TaskState[state],
    pending: pending && Pending[pending],
    passDue: memory?.passDue,
    dueInMs,
    chainPosition,
  };
}
const step = { state: undefined, pending: 'STEP', dueInMs: undefined };
const timer = { state: 'WAITING', pending: 'TIMER', passDue: undefined, chainPosition: undefined };
const paused = { state: 'PAUSED', pending: 'NONE', passDue: undefined, dueInMs: undefined, chainPosition: undefined };

describe('folding a failed model call', () => {
  it.each([
    [
      'an overflow asks for a pass for the same model',
      seen('PROVIDER_OVERFLOW'),
      { ...step, passDue: PassReason.OVERFLOW, chainPosition: 0 },
    ],
    ['a request ceiling too', seen('PROVIDER_REQUEST_CEILING'), { ...step, passDue: PassReason.OVERFLOW, chainPosition: 0 }],
    [
      'a fallback that is too small asks for a pass for that model',
      seen('COMPACT_FIRST', 0, { chain_position: 1 }),
      { ...step, passDue: PassReason.MODEL_SWITCH, chainPosition: 1 },
    ],
    [
      'a position outside of the chain is not believed',
      seen('COMPACT_FIRST', 0, { chain_position: 9 }),
      { ...step, passDue: PassReason.MODEL_SWITCH, chainPosition: 0 },
    ],
    ['not now is a timer', seen('PROVIDER_OVERLOADED'), { ...timer, dueInMs: 1_000 }],
    ['the timer grows', seen('PROVIDER_OVERLOADED', 3), { ...timer, dueInMs: 8_000 }],
    ['up to a minute', seen('PROVIDER_CHAIN_EXHAUSTED', 30), { ...timer, dueInMs: 60_000 }],
    ['a hint of the provider is kept', seen('PROVIDER_RATE_LIMITED', 0, {}, 90_000), { ...timer, dueInMs: 90_000 }],
    ['after an hour a person has to look', seen('BUSY', 60), paused],
    ['a bad key is for a person', seen('PROVIDER_AUTH'), paused],
    ['an empty account is for a person', seen('PROVIDER_QUOTA'), paused],
    ['what can never fit fails the task', seen('CONTEXT_IRREDUCIBLE'), { ...paused, state: 'FAILED' }],
    ['a stop is no failure of the provider', seen('CANCELLED'), undefined],
    ['a fault of the platform counts as an attempt of the step', seen('INTERNAL'), undefined],
  ])('%s', (_rule, actual, expected) => {
    expect(actual).toEqual(expected);
  });

  it('knows every code there is', () => {
    for (const code of Object.keys(errorCodes) as ErrorCode[]) expect(() => seen(code)).not.toThrow();
  });
});
