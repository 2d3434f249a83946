import type { Conversation, Turn } from '../conversation';
import { purposeOf } from './purpose';
import { condense, sectionsIn, summarise } from './summary';

const instruction = [
  'The conversation above is about to be hidden. Write a summary.',
  'At most 600 words, in exactly these sections, each under its heading:',
  '',
  '## 1. Requests and intent',
  '(everything the user asked for)',
  '## 3. Files and code',
  '(each file)',
  '## 7. Pending tasks',
  '## 8. Current work',
  '## 9. Next step',
].join('\n');

const turns: Turn[] = [
  { role: 'user', texts: ['Make an inventory.\n[ ] c1: all files are listed'] },
  {
    role: 'assistant',
    text: 'Reading.',
    calls: [
      { id: 'call_1', name: 'read_file', arguments: { path: 'a.ts' } },
      { id: 'call_2', name: 'update_plan', arguments: { items: [{ text: 'Batch 01: files 1 to 3', state: 'doing' }] } },
    ],
  },
  {
    role: 'results',
    results: [
      { callId: 'call_1', text: 'const a = 1;', isError: false },
      { callId: 'call_2', text: 'saved', isError: false },
    ],
  },
];
const conversation = (more: Turn[], tools: string[] = ['read_file']): Conversation => ({
  model: 'm',
  system: '',
  tools,
  turns: [...turns, ...more],
});
const asked = conversation([{ role: 'user', texts: [instruction] }]);

describe('the purpose of a request', () => {
  it.each<[string, Conversation, string]>([
    ['a turn', conversation([]), 'turn'],
    ['an instruction to summarise', asked, 'summary'],
    [
      'a transcript that begins with a summary and goes on',
      conversation([{ role: 'user', texts: [summarise(asked).text ?? ''] }]),
      'turn',
    ],
    [
      'shortening one text',
      conversation([{ role: 'user', texts: ['Shorten the text below to about a fifth.'] }], []),
      'condense',
    ],
    ['notes on a part', conversation([{ role: 'user', texts: ['Below is part 1 of 3 of the record.'] }], []), 'condense'],
  ])('%s', (_title, given, purpose) => {
    expect(purposeOf(given)).toBe(purpose);
  });
});

describe('an extractive summary', () => {
  const { text = '' } = summarise(asked);

  it('has exactly the sections that were asked for, in their order', () => {
    expect(sectionsIn(instruction).map(({ number }) => number)).toEqual([1, 3, 7, 8, 9]);
    expect(text.match(/^## .*$/gm)).toEqual([
      '## 1. Requests and intent',
      '## 3. Files and code',
      '## 7. Pending tasks',
      '## 8. Current work',
      '## 9. Next step',
    ]);
  });

  it('holds what the work needs to go on, and how to bring results back', () => {
    for (const part of [
      'Make an inventory.',
      'restorable: id=call_1 tool=read_file path=a.ts',
      '- criterion c1: all files are listed',
      'Working on: Batch 01: files 1 to 3.',
    ])
      expect(text).toContain(part);
  });

  it('stays within the words that it was given', () => {
    const long = conversation([
      { role: 'user', texts: ['x'.repeat(9_000)] },
      { role: 'user', texts: [instruction] },
    ]);
    expect((summarise(long).text ?? '').length).toBeLessThan(600 * 6);
  });

  it('is the same for the same transcript', () => {
    expect(summarise(asked)).toEqual(summarise(asked));
  });
});

it('a shortened text is at most a fifth, and comes from the data only', () => {
  const data = 'fact '.repeat(100).trim();
  const prompt = `Shorten the text below.\n\n<data-0123 source="read_file">\n${data}\n</data-0123>`;
  const { text = '' } = condense(conversation([{ role: 'user', texts: [prompt] }], []));
  expect(text.length).toBeLessThanOrEqual(data.length / 5);
  expect(text).toMatch(/^fact fact/);
});
