import type { Conversation, Turn } from '../conversation';
import { createScript } from './scripts';

const start: Turn[] = [{ role: 'user', texts: ['go\n[ ] c1: it works'] }];
const conversation = (turns: Turn[]): Conversation => ({ model: 'm', system: '', tools: ['run_command'], turns });
const instruction = '## 1. Requests and intent\n## 3. Files and code\n## 7. Pending tasks\n## 8. Current work\n## 9. Next step';

/** Plays a script against tools that always answer `ok`. Returns the names called, turn by turn. */
function play(name: string, options: object, limit = 10): string[][] {
  const script = createScript({ name, ...options });
  const turns = [...start];
  const names: string[][] = [];
  for (let turn = 0; turn < limit; turn++) {
    const { text = '', calls = [] } = script.next(conversation(turns));
    names.push(calls.map((call) => call.name));
    if (calls.some((call) => call.name === 'finish') || calls.length === 0) break;
    const made = calls.map((call, index) => ({ id: `t${turn}-${index}`, ...call }));
    turns.push(
      { role: 'assistant', text, calls: made },
      { role: 'results', results: made.map(({ id }) => ({ callId: id, text: 'ok', isError: false })) },
    );
  }
  return names;
}

describe('scripts', () => {
  it('quick: so many calls, then the criteria, then finish', () => {
    expect(play('quick', { calls: 3, parallel: 2 })).toEqual([
      ['list_files', 'run_command'],
      ['write_file'],
      ['mark_criterion'],
      ['finish'],
    ]);
  });

  it('loop: the identical call for ever', () => {
    expect(play('loop', {}, 3)).toEqual([['run_command'], ['run_command'], ['run_command']]);
  });

  it('noisy: ends after so many calls', () => {
    expect(play('noisy', { calls: 2 })).toEqual([['run_command'], ['run_command'], ['finish']]);
  });

  it('marks: a command that appends, a write, a read, in turn', () => {
    expect(play('marks', { calls: 4 })).toEqual([['run_command'], ['write_file'], ['read_file'], ['run_command'], ['finish']]);
  });

  it.each<[string, string, number]>([
    ['is not repeated when the mark is there', 'mark 0\nmark 3', 4],
    ['is repeated when it is not', 'mark 0', 3],
  ])('marks: an append whose outcome is unknown %s', (_rule, seen, next) => {
    const script = createScript({ name: 'marks', calls: 9 });
    const round = (id: string, name: string, args: { [name: string]: string }, text: string): Turn[] => [
      { role: 'assistant', text: '', calls: [{ id, name, arguments: args }] },
      { role: 'results', results: [{ callId: id, text, isError: true }] },
    ];
    const doubt = [
      ...start,
      ...round(
        'a',
        'run_command',
        { command: 'echo mark 3 >> marks.txt' },
        'The outcome is unknown and the call was not repeated',
      ),
    ];
    expect(script.next(conversation(doubt)).calls).toEqual([{ name: 'read_file', arguments: { path: 'marks.txt' } }]);
    const looked = [...doubt, ...round('b', 'read_file', { path: 'marks.txt' }, seen)];
    expect(script.next(conversation(looked)).text).toBe(`Call ${next + 1} of 9.`);
  });

  it('the next move depends on the transcript alone', () => {
    const script = createScript({ name: 'quick' });
    expect(script.next(conversation(start))).toEqual(script.next(conversation(start)));
  });

  it.each<[string, object]>([
    ['empty', {}],
    ['blank', { text: ' \n ' }],
    ['refusing', { text: "I'm sorry, but I can't help with that." }],
    ['failing', { fail: true }],
    ['tool_call', { text: 'First I look again.', calls: [{ name: 'list_files', arguments: { path: '.' } }] }],
    ['only_reasoning', { reasoning: 'The user wants a summary of everything so far.', stop: 'length' }],
  ])('summaries of the kind %s', (kind, move) => {
    const script = createScript({ name: 'summaries', kind });
    expect(script.next(conversation([...start, { role: 'user', texts: [instruction] }]))).toEqual(move);
    expect(script.next(conversation(start)).calls?.[0]?.name).toBe('list_files');
  });

  it.each<[string, object, string]>([
    ['unknown', {}, 'no script "unknown"; there are: echo, '],
    ['constructor', {}, 'no script "constructor"'],
    ['replay', {}, 'replay: the option "file" names a recorded session'],
    ['replay', { file: '/nowhere.jsonl' }, 'replay: there is no recorded session at /nowhere.jsonl'],
    ['summaries', { kind: 'odd' }, 'summaries: kind must be one of'],
  ])('%s with %j is refused at the start', (name, options, message) => {
    expect(() => createScript({ name, ...options })).toThrow(message);
  });
});
