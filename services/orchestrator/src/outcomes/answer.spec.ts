import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { compaction, llm, task, transcript } from '@nightshift/contracts';
import { givenRow } from '../scripted/given';
import type { RowGiven } from '../scripted/given';
import { newCriteria } from '../tools/state-tools';
import { foldAnswer } from './answer';
import type { Outcome } from '../tasks/outcome';

const { Pending, TaskState } = task;
const { StopReason } = transcript;
type Block = MessageInitShape<typeof transcript.BlockSchema>;
const text = (value: string): Block => ({ kind: { case: 'text', value } });
const call = (name: string, args: object): Block => ({
  kind: { case: 'toolCall', value: { providerId: `p-${name}`, name, argumentsJson: JSON.stringify(args) } },
});

interface Given {
  readonly row?: RowGiven;
  readonly criteria?: readonly string[];
  readonly blocks?: readonly Block[];
  readonly stop?: transcript.StopReason;
  readonly usage?: MessageInitShape<typeof transcript.UsageSchema>;
  readonly fallbacks?: MessageInitShape<typeof llm.FallbackSchema>[];
  readonly sent?: number;
}

function fold(given: Given): Outcome {
  let ids = 0;
  return foldAnswer({
    row: givenRow(given.row),
    details: { criteria: newCriteria(given.criteria ?? []), chain: [] },
    sent: {
      generation: 0,
      through: 5,
      prefix: 'hash',
      prefixEstimate: 900,
      viewEstimate: 400,
      notes: [],
      offered: new Set(['read_file', 'write_file', 'finish', 'update_plan']),
    },
    reply: create(llm.CompleteReplySchema, {
      provider: 'p',
      model: 'm',
      chainPosition: given.fallbacks ? 1 : 0,
      fallbacks: given.fallbacks ?? [],
      outputTokensSent: given.sent ?? 4_096,
      usage: { inputTotal: 1_500, outputTotal: 20, source: transcript.UsageSource.TERMINAL, ...(given.usage as object) },
      message: { blocks: [...(given.blocks ?? [])], stopReason: given.stop ?? StopReason.END_TURN },
    }),
    batchBudget: 10_000,
    newId: () => `00000000-0000-7000-8000-00000000000${++ids}`,
    estimate: () => 10,
  });
}

/** What a reader of the table cares about. */
function seen(outcome: Outcome): Record<string, unknown> {
  const { row } = outcome;
  return {
    state: row.state,
    pending: row.pending === undefined ? undefined : Pending[row.pending],
    entries: outcome.entries.map(({ body }) => (body.case === 'note' ? `note ${body.value.kind}` : body.case)),
    calls: outcome.calls.map(({ tool, state, wave, place }) => `${tool} ${state} ${place} ${wave}`),
    batch: row.memory?.batch,
    passDue: row.memory?.passDue,
    cuts: row.memory?.cuts,
    outputBudget: row.memory?.outputBudget,
    bound: row.memory?.usage?.input,
  };
}
const nothing = { state: undefined, calls: [], batch: undefined, passDue: undefined, cuts: 0, outputBudget: 0, bound: 1_500 };

const table: readonly (readonly [rule: string, given: Given, expected: Record<string, unknown>])[] = [
  [
    'calls of the runner are intended and dispatched with the first wave',
    { blocks: [text('ok'), call('read_file', { path: 'a' }), call('write_file', { path: 'b', content: '' })] },
    {
      ...nothing,
      pending: 'TOOLS',
      entries: ['assistant'],
      calls: ['read_file intended runner 0', 'write_file intended runner 1'],
      batch: { seq: 6, wave: 0 },
    },
  ],
  [
    'calls of the task’s own tools go on with a step',
    { blocks: [call('update_plan', { items: [{ text: 'a', state: 'todo' }] })] },
    { ...nothing, pending: 'STEP', entries: ['assistant'], calls: ['update_plan intended state 0'], batch: { seq: 6, wave: -1 } },
  ],
  [
    'when every call is bad the batch closes at once',
    { blocks: [call('fly', {}), call('read_file', {})] },
    {
      ...nothing,
      pending: 'STEP',
      entries: ['assistant', 'toolResult', 'toolResult'],
      calls: ['fly failed state 0', 'read_file failed runner 0'],
    },
  ],
  [
    'a tool that the task was not given is refused',
    { blocks: [call('run_command', { command: 'ls' })] },
    { ...nothing, pending: 'STEP', entries: ['assistant', 'toolResult'], calls: ['run_command failed runner 0'] },
  ],
  [
    'the first answer cut by length is not recorded, and the budget doubles',
    { blocks: [text('half')], stop: StopReason.LENGTH },
    { ...nothing, pending: 'STEP', entries: [], cuts: 1, outputBudget: 8_192, bound: undefined },
  ],
  [
    'the next ones are kept without their calls, and continued',
    {
      row: { memory: { cuts: 1, outputBudget: 8_192 } },
      blocks: [text('half'), call('read_file', { path: 'a' })],
      stop: StopReason.LENGTH,
    },
    { ...nothing, pending: 'STEP', entries: ['assistant', 'note output_cut'], cuts: 2, outputBudget: 8_192 },
  ],
  [
    'after three continuations a person has to look',
    { row: { memory: { cuts: 4, outputBudget: 8_192 } }, blocks: [text('half')], stop: StopReason.LENGTH },
    { ...nothing, state: TaskState.PAUSED, pending: 'NONE', entries: ['assistant', 'note output_cut'], outputBudget: 8_192 },
  ],
  [
    'a whole answer ends the doubled budget',
    { row: { memory: { cuts: 2, outputBudget: 8_192 } }, blocks: [call('read_file', { path: 'a' })] },
    { ...nothing, pending: 'TOOLS', entries: ['assistant'], calls: ['read_file intended runner 0'], batch: { seq: 6, wave: 0 } },
  ],
  [
    'an answer cut by the window itself asks for a pass and is not recorded',
    { blocks: [text('x')], stop: StopReason.CONTEXT_WINDOW },
    { ...nothing, pending: 'STEP', entries: [], passDue: compaction.PassReason.OVERFLOW, bound: undefined },
  ],
  [
    'an answer to a silently cut input asks for a pass once',
    { blocks: [text('x')], usage: { silentlyTruncated: true } },
    { ...nothing, pending: 'STEP', entries: [], passDue: compaction.PassReason.SILENT_TRUNCATION, bound: undefined },
  ],
  [
    'after that pass it is taken as it is, without binding its report',
    { row: { memory: { forcedInARow: 1 } }, blocks: [call('read_file', { path: 'a' })], usage: { silentlyTruncated: true } },
    {
      ...nothing,
      pending: 'TOOLS',
      entries: ['assistant'],
      calls: ['read_file intended runner 0'],
      batch: { seq: 6, wave: 0 },
      bound: undefined,
    },
  ],
  [
    'silence is reminded of finish',
    { blocks: [text('Done, I think.')] },
    { ...nothing, pending: 'STEP', entries: ['assistant', 'note reminder'] },
  ],
  [
    'the second silence ends a task without criteria',
    { row: { memory: { nudges: 1 } }, blocks: [text('Yes, done.')] },
    { ...nothing, state: TaskState.COMPLETED, pending: 'NONE', entries: ['assistant'] },
  ],
  [
    'silence never ends a task with open criteria',
    { row: { memory: { nudges: 3 } }, criteria: ['tests pass'], blocks: [text('Yes, done.')] },
    { ...nothing, state: TaskState.PAUSED, pending: 'NONE', entries: ['assistant'] },
  ],
  ['an empty answer is no entry, only a reminder', { blocks: [] }, { ...nothing, pending: 'STEP', entries: ['note reminder'] }],
  [
    'a report of 0 binds nothing',
    { blocks: [call('read_file', { path: 'a' })], usage: { inputTotal: 0 } },
    {
      ...nothing,
      pending: 'TOOLS',
      entries: ['assistant'],
      calls: ['read_file intended runner 0'],
      batch: { seq: 6, wave: 0 },
      bound: undefined,
    },
  ],
];

describe('folding an answer', () => {
  it.each(table)('%s', (_rule, given, expected) => {
    expect(seen(fold(given))).toEqual(expected);
  });

  it('is sticky for the candidate that answered, and says why it moved', () => {
    const outcome = fold({
      blocks: [text('x')],
      fallbacks: [{ from: 'a/b', to: 'p/m', reason: 'rate_limit', window: 32_000, threshold: 16_000 }],
    });
    expect(outcome.row.chainPosition).toBe(1);
    expect(outcome.events).toEqual([
      { kind: 'fallback', data: { from: 'a/b', to: 'p/m', reason: 'rate_limit', window: 32_000, threshold: 16_000 } },
    ]);
  });

  it('counts what was billed, discarded answers included', () => {
    const outcome = fold({ blocks: [text('half')], stop: StopReason.LENGTH });
    expect(outcome.row.memory?.spend).toEqual({ input: 1_500, output: 20, cacheRead: 0, calls: 1 });
    expect(outcome.counted).toEqual([
      { metric: 'team_tokens', labels: { team: 'team', kind: 'input' }, value: 1_500 },
      { metric: 'team_tokens', labels: { team: 'team', kind: 'output' }, value: 20 },
    ]);
  });

  it('gives a fresh id to a call whose id repeats', () => {
    const same = '00000000-0000-7000-8000-0000000000aa';
    const twin = (): Block => ({
      kind: { case: 'toolCall', value: { id: same, name: 'read_file', argumentsJson: '{"path":"a"}' } },
    });
    expect(fold({ blocks: [twin(), twin()] }).calls.map(({ callId }) => callId)).toEqual([
      same,
      '00000000-0000-7000-8000-000000000001',
    ]);
  });
});
