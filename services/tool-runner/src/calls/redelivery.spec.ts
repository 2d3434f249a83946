import { answer } from '../tools/answer';
import { openCall } from './redelivery';

const done = answer('Edited a.ts');
const intent = { path: 'a.ts', beforeSha256: 'b4', afterSha256: 'af', done };
const started = { tool: 'edit_file', effect: 'keyed' as const, intent };

describe('what a delivery of a call does', () => {
  it('never seen before: it runs', () => {
    expect(openCall({}, '')).toEqual({ do: 'run' });
  });

  it('result known: it is published, whatever the effect class', () => {
    expect(openCall({ started: { tool: 'run_command', effect: 'effectful' }, answer: done }, '')).toEqual({
      do: 'publish',
      answer: done,
    });
  });

  it('a read or a stop that was started runs again', () => {
    expect(openCall({ started: { tool: 'read_file', effect: 'read-only' } }, '')).toEqual({ do: 'run' });
    expect(openCall({ started: { tool: 'stop_command', effect: 'keyed' } }, '')).toEqual({ do: 'run' });
  });

  it('an edit runs again on the old hash, is done on the new one, and is unknown on any other', () => {
    expect(openCall({ started }, 'b4')).toEqual({ do: 'run' });
    expect(openCall({ started }, 'af')).toEqual({ do: 'publish', answer: done });
    expect(openCall({ started }, 'other')).toMatchObject({ do: 'publish', answer: { isError: true, outcome: 3 } });
  });

  it('a command that was started is unknown', () => {
    expect(openCall({ started: { tool: 'run_command', effect: 'effectful' } }, '')).toMatchObject({
      do: 'publish',
      answer: { isError: true, outcome: 3, parts: [{ text: expect.stringContaining('was not repeated') }] },
    });
  });
});
