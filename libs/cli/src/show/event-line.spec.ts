import { EventLines } from './event-line';

function linesOf(...events: Array<[kind: string, data: Record<string, unknown>]>): Array<string | undefined> {
  const lines = new EventLines();
  return events.map(([kind, data], seq) => lines.of({ seq, atMs: 0, taskId: 't', kind, data })?.slice('00:00:00  '.length));
}

describe('EventLines', () => {
  it('says with what a tool was called once it has finished', () => {
    const started = { callId: 'c', tool: 'read_file', arguments: '{"path":"a.ts"}' };
    const finished = { callId: 'c', tool: 'read_file', state: 'finished', ms: 1200, chars: 2048 };
    expect(linesOf(['tool_started', started], ['tool_finished', finished])).toEqual([undefined, 'read_file a.ts, 2.0 KB, 1.2 s']);
  });

  it.each([
    ['{"command":"echo \\"hi\\"\\nls"}', 'run_command echo "hi" ls, 0.0 s'],
    ['{"path":"libs","pattern":"TODO"}', 'run_command TODO, 0.0 s'],
    ['{"path":"a.txt","content":"cut in the mid', 'run_command a.txt, 0.0 s'],
    ['{}', 'run_command, 0.0 s'],
  ])('finds what tells most in %s', (given, expected) => {
    const finished = { callId: 'c', tool: 'run_command', state: 'finished', ms: 0, chars: 0 };
    expect(linesOf(['tool_started', { callId: 'c', arguments: given }], ['tool_finished', finished])[1]).toBe(expected);
  });

  it.each<[string, Record<string, unknown>, string | undefined]>([
    ['entry_appended', { seq: 1 }, undefined],
    ['tool_finished', { tool: 'update_plan', state: 'finished' }, undefined],
    ['tool_finished', { tool: 'run_command', state: 'unknown', ms: 0, chars: 0 }, 'run_command UNKNOWN, 0.0 s'],
    [
      'plan_updated',
      {
        plan: [
          { text: 'a', state: 'done' },
          { text: 'b', state: 'doing' },
        ],
      },
      'plan: 1 of 2 steps done, now "b"',
    ],
    ['state_changed', { state: 'paused', reason: 'asked to' }, 'now paused: asked to'],
    [
      'compaction_finished',
      {
        generation: 2,
        before: 40_000,
        after: 9_000,
        outcome: 'reduced',
        ms: 900,
        tiers: [{ tier: 'summary', outcome: 'applied' }],
      },
      'compaction 2: 40 000 → 9 000 tokens, reduced (summary) in 0.9 s',
    ],
    ['something_new', { count: 12_345, why: 'x', list: [1] }, 'something new: count 12 345, why x'],
    ['finished', { result: 'done\u001b[2J\nreally' }, 'finished: done [2J really'],
  ])('shows %s', (kind, data, expected) => expect(linesOf([kind, data])).toEqual([expected]));
});
