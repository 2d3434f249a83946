import type { ModelEntry } from '@nightshift/config';
import type { KnownModel, OverrideRow, WindowRow } from '../windows/window-rows';
import { describeModel } from './describe-model';

const now = 1_000_000;
const name = { provider: 'p', endpoint: 'http://h', model: 'm' };
const row = (more: Partial<WindowRow>): WindowRow => ({
  ...name,
  source: 'served',
  window: null,
  inputMax: null,
  outputMax: null,
  trainedMax: null,
  modelfileNumCtx: null,
  loaded: true,
  cloud: false,
  note: '',
  observedAt: new Date(now),
  seenAt: new Date(now),
  ...more,
});
const override = (more: Partial<OverrideRow>): OverrideRow => ({
  ...name,
  teamId: 't',
  window: null,
  inputMax: null,
  outputMax: null,
  numCtx: null,
  setAt: new Date(now),
  ...more,
});
const describeIt = (vendor: string, known: Partial<KnownModel>, operator?: ModelEntry, model = 'm') =>
  describeModel({
    known: { name: { ...name, model }, learned: [], ...known },
    vendor,
    ...(operator ? { operator } : {}),
    nowMs: now,
    staleAfterMs: { served: 1_000, list: 1_000 },
  });

interface Example {
  title: string;
  vendor?: string;
  known?: Partial<KnownModel>;
  operator?: ModelEntry;
  expected: object;
}

const examples: Example[] = [
  {
    title: 'a loaded model is served as it is, whatever num_ctx is asked for',
    known: { served: row({ window: 4_096, trainedMax: 40_960 }) },
    operator: { num_ctx: 8_192 },
    expected: { window: 4_096, source: 'served', numCtx: 8_192 },
  },
  {
    title: 'one that is not loaded will be served with the num_ctx that is sent: the team first',
    known: { served: row({ loaded: false, modelfileNumCtx: 2_048 }), override: override({ numCtx: 16_384 }) },
    operator: { num_ctx: 8_192 },
    expected: { window: 16_384, source: 'served', numCtx: 16_384, notLoaded: true },
  },
  {
    title: 'the Modelfile counts before what was served once',
    known: { served: row({ loaded: false, window: 4_096, modelfileNumCtx: 8_192 }) },
    expected: { window: 8_192, numCtx: 8_192 },
  },
  {
    title: 'what was served once is kept while the model is not loaded',
    known: { served: row({ loaded: false, window: 4_096 }) },
    expected: { window: 4_096, numCtx: 4_096, unknown: false },
  },
  {
    title: 'nothing known leaves num_ctx out, and the trained maximum is no window',
    known: { served: row({ loaded: false, trainedMax: 131_072 }) },
    expected: { window: 32_000, numCtx: 0, unknown: true },
  },
  {
    title: 'num_ctx is never above what the model was trained for',
    known: { served: row({ loaded: false, trainedMax: 8_192 }) },
    operator: { num_ctx: 32_768 },
    expected: { window: 8_192, numCtx: 8_192 },
  },
  {
    title: 'a cloud model gets no num_ctx',
    known: { served: row({ window: 131_072, trainedMax: 131_072, cloud: true }) },
    operator: { num_ctx: 8_192 },
    expected: { window: 131_072, numCtx: 0 },
  },
  {
    title: 'other servers get no num_ctx',
    vendor: 'vllm',
    known: { served: row({ window: 32_768 }) },
    operator: { num_ctx: 8_192 },
    expected: { window: 32_768, numCtx: 0, warning: '' },
  },
  {
    title: 'a server that serves much less than the model can is warned about, with the setting',
    vendor: 'llamacpp',
    known: { served: row({ window: 4_096, trainedMax: 131_072 }) },
    expected: { warning: 'serves 4096 of the 131072 tokens the model can: start the server with a larger -c' },
  },
  {
    title: 'a small model served in full is not warned about',
    known: { served: row({ window: 8_192, trainedMax: 8_192 }) },
    expected: { warning: '' },
  },
  {
    title: 'a list that states only what may be input counts as the window',
    vendor: 'anthropic',
    known: { list: row({ source: 'list', inputMax: 200_000, outputMax: 64_000 }) },
    expected: { window: 200_000, inputMax: 200_000, outputMax: 64_000, source: 'list' },
  },
];

describe('describeModel', () => {
  it.each(examples)('$title', ({ vendor = 'ollama', known = {}, operator, expected }) => {
    expect(describeIt(vendor, known, operator)).toMatchObject(expected);
  });

  it('keeps the input maximum of the catalogue apart from its context', () => {
    expect(describeIt('openai', {}, undefined, 'gpt-5')).toMatchObject({
      window: 400_000,
      inputMax: 272_000,
      outputMax: 128_000,
    });
  });

  it('never takes a catalogue row or a family for a model of a local server', () => {
    expect(describeIt('ollama', {}, undefined, 'claude-sonnet-4-6')).toMatchObject({ window: 32_000, unknown: true });
  });

  it('takes the row of the vendor that is asked, not of another that has the same model', () => {
    const sources = describeIt('codex', {}, undefined, 'gpt-5.1').sources.map(({ source, window }) => [source, window]);
    expect(sources[0]).toEqual(['catalogue', 272_000]);
  });
});
