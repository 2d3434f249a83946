import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { crosses, drifted, measure } from './measure';
import type { MeasureInput } from './measure';

const { UsageSource } = transcript;

function bound(over: object = {}, usage: object = {}): transcript.BoundUsage {
  return create(transcript.BoundUsageSchema, {
    usage: create(transcript.UsageSchema, { inputTotal: 50_000, source: UsageSource.TERMINAL, ...usage }),
    generation: 2,
    throughSeq: 10,
    provider: 'p',
    model: 'm',
    prefixSha256: 'same',
    prefixEstimate: 1_000,
    ...over,
  });
}
const now: MeasureInput = {
  usage: bound(),
  generation: 2,
  provider: 'p',
  model: 'm',
  prefixSha256: 'same',
  prefixEstimate: 1_000,
  appendedEstimate: 0,
  messagesEstimate: 39_000,
};
const byEstimate = (why: string): object => ({ tokens: 50_000, source: 'estimate', needsConfirmation: true, why });

test.each<[rule: string, input: Partial<MeasureInput>, expected: object]>([
  [
    'nothing appended: exactly the reported number',
    {},
    { tokens: 50_000, source: 'reported', needsConfirmation: false, why: '' },
  ],
  [
    'appended entries are added without inflation',
    { appendedEstimate: 700 },
    { tokens: 50_700, source: 'reported+estimate', needsConfirmation: false, why: '' },
  ],
  [
    'changed schemas: the difference of the estimates',
    { prefixSha256: 'other', prefixEstimate: 1_400 },
    { tokens: 50_400, source: 'reported+estimate', needsConfirmation: false, why: '' },
  ],
  ['no report: the estimate and 25 % more', { usage: undefined }, byEstimate('no report yet')],
  ['a report of 0 is none', { usage: bound({}, { inputTotal: 0 }) }, byEstimate('the report says 0')],
  ['a report of an older generation is void', { generation: 3 }, byEstimate('the report is of generation 2, now 3')],
  ['a report of another model says nothing', { model: 'other' }, byEstimate('the report is of p/m')],
  ['nor does one of another provider', { provider: 'q' }, byEstimate('the report is of p/m')],
  [
    'a cut stream',
    { usage: bound({}, { source: UsageSource.RUNNING }) },
    byEstimate('the stream was cut before its final report'),
  ],
  [
    'a silently truncated request',
    { usage: bound({}, { silentlyTruncated: true }) },
    byEstimate('the server dropped part of the input'),
  ],
])('%s', (_rule, input, expected) => {
  expect(measure({ ...now, ...input })).toEqual(expected);
});

test('crossing on an estimate alone needs the tokenizer to cross as well', () => {
  const estimated = measure({ ...now, usage: undefined });
  const reported = measure(now);
  expect([
    crosses(reported, 50_000),
    crosses(reported, 49_999),
    crosses(estimated, 49_999),
    crosses(estimated, 49_999, 49_999),
    crosses(estimated, 49_999, 50_000),
  ]).toEqual(['no', 'yes', 'confirm', 'no', 'yes']);
});

test('report and estimate more than a fifth apart raise the drift alarm', () => {
  expect([drifted(100, 80), drifted(100, 79), drifted(100, 120), drifted(100, 121), drifted(0, 50)]).toEqual([
    false,
    true,
    false,
    true,
    false,
  ]);
});
