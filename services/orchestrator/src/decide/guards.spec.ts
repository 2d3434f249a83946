import { judge } from './guards';
import type { JudgedCall } from './guards';
import { newMemory } from '../tasks/task-row';

const fresh = newMemory(100, false).guards;
const call = (over: Partial<JudgedCall> = {}): JudgedCall => ({
  tool: 'read_file',
  argumentsJson: '{"path":"a"}',
  failed: false,
  resultText: 'a',
  changes: [],
  ...over,
});
const times = (n: number, of: (i: number) => JudgedCall): JudgedCall[] => Array.from({ length: n }, (_value, i) => of(i));
function judgeAll(calls: readonly JudgedCall[]): { notes: string[]; stop: string | undefined } {
  let guards = fresh;
  const notes: string[] = [];
  let stop: string | undefined;
  for (const one of calls) {
    const verdict = judge(guards, [one]);
    guards = verdict.guards;
    notes.push(...verdict.notes.map(({ kind }) => kind));
    stop ??= verdict.stop;
  }
  return { notes, stop: stop && /"(\w+)"/.exec(stop)?.[1] };
}
const swing = (i: number): JudgedCall =>
  call({
    tool: 'edit_file',
    argumentsJson: `${i}`,
    resultText: `${i}`,
    changes: [{ path: 'a', before: `${i % 2}`, after: `${(i + 1) % 2}` }],
  });

describe('loop guards', () => {
  it.each([
    ['different calls are left alone', times(40, (i) => call({ argumentsJson: `${i}` })), { notes: [], stop: undefined }],
    [
      'the same call with a new answer is polling, not a loop',
      times(20, (i) => call({ resultText: `${i}` })),
      { notes: [], stop: undefined },
    ],
    ['a repeated call is told once', times(5, () => call()), { notes: ['repetition'], stop: undefined }],
    ['a call repeated after it was told stops the task', times(6, () => call()), { notes: ['repetition'], stop: 'repetition' }],
    ['edits back and forth are told, then stopped', times(7, swing), { notes: ['ping_pong'], stop: 'ping_pong' }],
    [
      'calls that fail in turn are told, then stopped',
      times(12, (i) => call({ failed: true, argumentsJson: `${i}` })),
      { notes: ['no_progress'], stop: 'no_progress' },
    ],
    [
      'two calls in turn that show nothing new are told, then stopped',
      times(26, (i) => call({ argumentsJson: `${i % 2}` })),
      { notes: ['no_progress'], stop: 'no_progress' },
    ],
  ])('%s', (_title, calls, expected) => {
    expect(judgeAll(calls)).toEqual(expected);
  });
});
