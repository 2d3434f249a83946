import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { appendEntries } from '../conformance/notation';
import type { EntrySpec } from '../conformance/notation';
import { messageText } from '../tiers/summary-text';
import { openCalls, unitsOf } from './pairing';
import { renderView, visibleSeqs } from './render';
import { prefixHash, viewHash } from './hash';

function entriesOf(specs: readonly EntrySpec[]): transcript.Entry[] {
  const entries: transcript.Entry[] = [];
  appendEntries(entries, specs);
  return entries;
}
const shown = (entries: readonly transcript.Entry[], checkpoint?: compaction.Checkpoint): string[] =>
  renderView({ system: '', tools: [], entries, checkpoint }).messages.map((message) =>
    messageText(message).replaceAll('\n', ' | '),
  );
const call = (id: string): { id: string; name: string } => ({ id, name: 'read' });

describe('the view without a checkpoint', () => {
  test.each<[rule: string, specs: EntrySpec[], messages: string[]]>([
    [
      'results of one message stand together, in the order of its calls',
      [
        { user: 'go' },
        { assistant: 'look', calls: [call('a'), call('b')] },
        { result: 'b', text: 'B' },
        { result: 'a', text: 'A' },
      ],
      [
        '[user] | go',
        '[assistant] | look | [call read] {} | [call read] {}',
        '[result of read_file] | A | [result of read_file] | B',
      ],
    ],
    [
      'a call without a result gets an aborted one',
      [{ user: 'go' }, { assistant: '', calls: [call('a')] }, { user: 'next' }],
      ['[user] | go', '[assistant] | [call read] {}', '[result of read] | aborted: this call has no result', '[user] | next'],
    ],
    [
      'the first result of a call wins',
      [{ user: 'go' }, { assistant: '', calls: [call('a')] }, { result: 'a', text: '1' }, { result: 'a', text: '2' }],
      ['[user] | go', '[assistant] | [call read] {}', '[result of read_file] | 1'],
    ],
    [
      'what is said inside a batch is read after its results',
      [{ user: 'go' }, { assistant: '', calls: [call('a')] }, { user: 'wait' }, { note: 'n' }, { result: 'a', text: '1' }],
      [
        '[user] | go',
        '[assistant] | [call read] {}',
        '[result of read_file] | 1',
        '[user] | wait',
        '[user] | [platform notice: notice] n',
      ],
    ],
    [
      'a result without its call is shown as text',
      [{ user: 'go' }, { result: 'gone', tool: 'read', text: 'left' }],
      ['[user] | go', '[user] | [result of read without its call] | left'],
    ],
    [
      'empty answers are left out, empty results and messages are named',
      [{ user: '' }, { assistant: '' }, { assistant: '  ', calls: [call('a')] }, { result: 'a', text: '' }],
      ['[user] | (empty message)', '[assistant] | [call read] {}', '[result of read_file] | (no output)'],
    ],
    [
      'a session that begins with the model gets a user message first',
      [{ assistant: 'hi' }],
      ['[user] | (the conversation starts here)', '[assistant] | hi'],
    ],
    [
      'reused ids pair within their own round',
      [
        { user: 'go' },
        { assistant: '', calls: [call('a')] },
        { result: 'a', text: '1' },
        { assistant: '', calls: [call('a')] },
        { result: 'a', text: '2' },
      ],
      [
        '[user] | go',
        '[assistant] | [call read] {}',
        '[result of read_file] | 1',
        '[assistant] | [call read] {}',
        '[result of read_file] | 2',
      ],
    ],
  ])('%s', (_rule, specs, messages) => {
    expect(shown(entriesOf(specs))).toEqual(messages);
  });
});

describe('the view under a checkpoint', () => {
  const entries = entriesOf([
    { user: 'goal' },
    { assistant: 'one', calls: [call('a')], reasoning: { text: 'old thought', signature: 's' } },
    { result: 'a', text: 'A' },
    { user: 'steer' },
    { assistant: 'two', calls: [call('b')] },
    { result: 'b', text: 'B' },
    { assistant: 'three', reasoning: { text: 'new thought', signature: 's' } },
  ]);
  const stored = { id: 'r-1' };
  const checkpoint = create(compaction.CheckpointSchema, {
    generation: 2,
    hiddenThroughSeq: 4,
    blockAfterSeq: 4,
    summary: 'So far.',
    verbatimUserSeqs: [1, 4],
    listedUsers: [{ seq: 3, text: 'older', stored }],
    replacements: [
      { seq: 3, part: 0, kind: compaction.ReplacementKind.HIDDEN, text: '- a: read, 1 characters: A' },
      { seq: 6, part: 0, kind: compaction.ReplacementKind.MICRO, text: '[moved out]', stored },
    ],
    reinjected: [{ kind: 'goal', label: '', text: 'Goal text' }],
    reasoningDroppedThroughSeq: 6,
    archives: [{ fromSeq: 2, throughSeq: 4, stored: { id: 'a-1' } }],
  });

  test('first and kept user messages, what stands for the hidden part, the block, then the tail with its replacements', () => {
    expect(shown(entries, checkpoint)).toEqual([
      '[user] | goal',
      '[user] | steer',
      [
        '[user]',
        'Summary of the earlier conversation, which is hidden now:',
        '',
        'So far.',
        'Earlier messages of the user, shortened (restore_tool_result gives the whole):',
        '- r-1: older',
        'Hidden, restorable with restore_tool_result {"id": …, "search": …}:',
        '- a-1: entries 2 to 4, one per line; its first line names the archive before it',
        '- a: read, 1 characters: A',
        '[goal]',
        'Goal text',
      ].join(' | '),
      '[assistant] | two | [call read] {}',
      '[result of read_file] | [moved out]',
      '[assistant] | three',
    ]);
  });

  test('reasoning through the pass is dropped, later reasoning is passed on as it is', () => {
    const { messages } = renderView({ system: '', tools: [], entries, checkpoint });
    const last = messages.at(-1)?.body;
    expect(last?.case === 'assistant' && last.value.blocks.map(({ kind }) => kind.case)).toEqual(['reasoning', 'text']);
  });

  test('hidden entries need not be loaded', () => {
    const needed = visibleSeqs(checkpoint);
    const loaded = entries.filter(({ seq }) => seq > needed.afterSeq || needed.seqs.includes(seq));
    expect(loaded.map(({ seq }) => seq)).toEqual([1, 4, 5, 6, 7]);
    const hash = (of: readonly transcript.Entry[]): string =>
      viewHash(renderView({ system: 's', tools: [], entries: of, checkpoint }));
    expect(hash(loaded)).toBe(hash(entries));
  });

  test('a block that stands later in the history is written there', () => {
    const later = create(compaction.CheckpointSchema, { ...checkpoint, blockAfterSeq: 6 });
    expect(shown(entries, later).slice(3)).toEqual([
      '[assistant] | two | [call read] {}',
      '[result of read_file] | [moved out]',
      '[user] | [goal] | Goal text',
      '[assistant] | three',
    ]);
  });
});

test('only the newest round may still be running', () => {
  const units = unitsOf(
    entriesOf([{ user: 'go' }, { assistant: '', calls: [call('a'), call('b')] }, { result: 'a', text: '1' }]),
  );
  expect(units.map((unit) => [unit.kind, openCalls(unit)])).toEqual([
    ['user', []],
    ['round', ['b']],
  ]);
});

test('the prefix hash changes with every part of the prefix', () => {
  const tool = (name: string, description: string): transcript.ToolSchema =>
    ({ name, description, inputSchemaJson: '{}' }) as transcript.ToolSchema;
  const hashes = [
    prefixHash({ system: 'a', tools: [] }),
    prefixHash({ system: 'b', tools: [] }),
    prefixHash({ system: 'a', tools: [tool('x', '')] }),
    prefixHash({ system: 'a', tools: [tool('x', 'y')] }),
  ];
  expect(new Set(hashes).size).toBe(4);
});
