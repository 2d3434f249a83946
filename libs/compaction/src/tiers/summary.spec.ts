import { toBinary } from '@bufbuild/protobuf';
import { compaction, NightshiftError, transcript } from '@nightshift/contracts';
import { appendEntries } from '../conformance/notation';
import type { EntrySpec } from '../conformance/notation';
import { MemoryStore } from '../conformance/memory-store';
import { summarizers } from '../conformance/summarizers';
import type { LadderInput } from '../ladder/input';
import type { SummaryCall } from '../ladder/ports';
import { runLadder } from '../ladder/run';
import type { LadderResult } from '../ladder/run';
import { estimateText } from '../measure/text-estimate';
import { renderView } from '../view/render';
import { planChunks } from './map-reduce';
import { fitSections, missingSections, sectionsFor, summarySections } from './summary-sections';

const bytes = (message: transcript.ViewMessage): string =>
  Buffer.from(toBinary(transcript.ViewMessageSchema, message)).toString('base64');

function inputOf(specs: readonly EntrySpec[], over: Partial<LadderInput> = {}): LadderInput {
  const entries: transcript.Entry[] = [];
  appendEntries(entries, specs);
  return {
    system: 'rules',
    tools: [],
    entries,
    generation: 0,
    reason: compaction.PassReason.THRESHOLD,
    window: 65_536,
    measured: 0,
    goalAndPlan: [],
    summarizers: [{ provider: 'p', model: 'm', window: 65_536, inputMax: 0, outputMax: 0 }],
    nowMs: 1,
    ...over,
  };
}
const specs: EntrySpec[] = [{ user: 'go' }, { rounds: 36, text: { kind: 'prose', chars: 4_000 } }];

async function run(
  input: LadderInput,
  answer: (call: SummaryCall) => Promise<transcript.AssistantMessage>,
): Promise<{ result: LadderResult; calls: SummaryCall[] }> {
  const calls: SummaryCall[] = [];
  const summarize = (call: SummaryCall): Promise<transcript.AssistantMessage> => {
    calls.push(call);
    return answer(call);
  };
  return { result: await runLadder(input, { summarize, store: new MemoryStore(), clock: () => 0 }), calls };
}

test('the instruction is appended to the unchanged request, so that a prompt cache serves it', async () => {
  const input = inputOf(specs);
  const { calls } = await run(input, summarizers.extractive);
  const before = renderView(input);
  const [call] = calls;
  expect(call?.view.system).toBe(before.system);
  expect(call?.view.messages.slice(0, -1).map(bytes)).toEqual(before.messages.map(bytes));
  expect(call?.view.messages).toHaveLength(before.messages.length + 1);
  expect(call).toMatchObject({ kind: 'append', attempt: 1, timeoutMs: 120_000 });
});

test('an error that cannot pass is not tried again', async () => {
  const { calls, result } = await run(inputOf(specs), () => Promise.reject(new NightshiftError('PROVIDER_QUOTA', 'no credit')));
  expect(calls).toHaveLength(1);
  expect(result).toMatchObject({ summaryFailed: true, outcome: compaction.PassOutcome.DEGRADED });
});

test('a candidate that holds the transcript is asked before one that does not', async () => {
  const small = { provider: 'p', model: 'small', window: 16_384, inputMax: 0, outputMax: 0 };
  const large = { ...small, model: 'large', window: 1_000_000 };
  const { calls } = await run(inputOf(specs, { summarizers: [small, large] }), summarizers.extractive);
  expect(calls.map(({ candidates }) => candidates.map(({ model }) => model))).toEqual([['large']]);
});

test('a stop ends the pass with its own reason', async () => {
  const controller = new AbortController();
  const reason = new NightshiftError('UNAVAILABLE', 'shutting down');
  const pass = runLadder(inputOf(specs), {
    summarize: () => {
      controller.abort(reason);
      return Promise.reject(new NightshiftError('DEADLINE_EXCEEDED', 'aborted'));
    },
    store: new MemoryStore(),
    clock: () => 0,
    signal: controller.signal,
  });
  await expect(pass).rejects.toBe(reason);
});

test('when the time of the pass is used up no model is asked', async () => {
  let now = 0;
  const result = await runLadder(inputOf(specs), {
    summarize: ({ timeoutMs }) => {
      now += timeoutMs + 200_000;
      return Promise.reject(new NightshiftError('DEADLINE_EXCEEDED', 'no answer'));
    },
    condense: () => Promise.reject(new Error('must not be asked')),
    store: new MemoryStore(),
    clock: () => now,
  });
  expect(result.tiers[0]?.reason).toContain('the time of this pass is used up');
  expect(result.after).toBeLessThanOrEqual(result.threshold.effective);
});

test('every text is in the parts of a map-reduce, and every part fits', () => {
  const texts = ['a'.repeat(50_000), 'short', '漢字'.repeat(20_000), 'x '.repeat(30_000)];
  const summarizer = { provider: 'p', model: 'm', window: 16_384, inputMax: 0, outputMax: 0 };
  const plan = planChunks(texts, [summarizer], 2_000, 1.25);
  const joined = plan?.chunks
    .map(({ text }) => text)
    .join('')
    .replaceAll('\n', '');
  expect(joined).toBe(texts.join(''));
  expect(plan?.chunks.every(({ text, tokens }) => tokens <= plan.room && tokens === estimateText(text))).toBe(true);
});

describe('sections', () => {
  const whole = summarySections.map(({ number, title }) => `## ${number}. ${title}\n${'word '.repeat(100)}`).join('\n');

  test('headings are recognised in the forms that models write', () => {
    const bold = summarySections.map(({ number, title }) => `**${number}. ${title}:** text`).join('\n');
    const plain = summarySections.map(({ number, title }) => `${number}. ${title.toUpperCase()}\n- text`).join('\n');
    expect([whole, bold, plain, 'no headings'].map((text) => missingSections(text, summarySections).length)).toEqual([
      0, 0, 0, 9,
    ]);
  });

  test('a small budget asks for what the work cannot go on without', () => {
    expect([sectionsFor(1_999), sectionsFor(2_000)].map((list) => list.map(({ number }) => number))).toEqual([
      [1, 3, 7, 8, 9],
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    ]);
  });

  test.each([2_000, 900, 400, 150, 60])('a summary is cut to %i tokens section by section', (budget) => {
    const fitted = fitSections(whole, budget);
    expect(estimateText(fitted)).toBeLessThanOrEqual(budget);
    if (budget >= 150) expect(missingSections(fitted, summarySections)).toEqual([]);
  });

  test('one that fits is not touched', () => {
    expect(fitSections(whole, 10_000)).toBe(whole);
  });
});
