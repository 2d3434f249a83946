import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import type { PassAsked } from '../conformance/engine';
import { History } from '../conformance/history';
import { ladderEngine } from '../conformance/ladder-engine';
import { MemoryStore } from '../conformance/memory-store';
import { appendEntries } from '../conformance/notation';
import { estimateEntry } from '../measure/estimate';
import { estimateText } from '../measure/text-estimate';
import type { LadderInput } from './input';
import { runLadder } from './run';

const rounds = 400;
const asked: PassAsked = {
  window: 65_536,
  inputMax: 0,
  outputMax: 0,
  maxOutput: 0,
  policy: {},
  reason: 'threshold',
  measured: 0,
  files: [],
  handles: [],
  summarizer: 'extractive',
  summarizerWindow: 0,
  onDevice: 'none',
  failedSummaries: { inARow: 0, atTokens: 0 },
  store: 'none',
  limits: {},
  imagesOnly: false,
  focus: '',
};

interface Committed {
  readonly before: number;
  readonly after: number;
  readonly effective: number;
  readonly landing: number;
}

const messagesOf = (view: transcript.View): string[] =>
  view.messages.map((message) =>
    JSON.stringify(message, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  );
const continues = (before: readonly string[], now: readonly string[]): boolean =>
  before.every((message, index) => message === now[index]);

interface Run {
  readonly seed: number;
  readonly summarizer: PassAsked['summarizer'];
}
interface Seen {
  readonly breaks: number;
  readonly passes: readonly Committed[];
}

/** A long task with a look at the view before every model call, and a pass where one is due. */
async function longRun({ seed, summarizer }: Run): Promise<Seen> {
  const history = new History({ seed, huge: 0, aborted: 0, images: 0 });
  const session = ladderEngine.open({ system: 'rules', tools: [], goalAndPlan: [] });
  const passes: Committed[] = [];
  let breaks = 0;
  let sent = messagesOf(session.view(history.entries));
  for (let round = 0; round < rounds; round++) {
    history.grow(1);
    const {
      committed,
      before = 0,
      after = 0,
      effective = 0,
      landing = 0,
    } = await session.pass(history.entries, {
      ...asked,
      summarizer,
    });
    if (committed) passes.push({ before, after, effective, landing });
    const next = messagesOf(session.view(history.entries));
    const broken = !continues(sent, next);
    // A break without a commit, or a commit that repeats the view, shows in the very round.
    expect({ round, broken }).toEqual({ round, broken: committed });
    if (broken) breaks++;
    sent = next;
  }
  return { breaks, passes };
}

const runs: readonly Run[] = [
  { seed: 1, summarizer: 'extractive' },
  { seed: 2, summarizer: 'empty' },
];

test.each(runs)('B99: the prefix breaks once per commit and at no other time (seed $seed, $summarizer)', async (run) => {
  const { breaks, passes } = await longRun(run);
  expect(breaks).toBe(passes.length);
  expect(passes.length).toBeGreaterThan(1);
});

test.each(runs)('B100: every break is paid for by the growth since the last one (seed $seed, $summarizer)', async (run) => {
  const { passes } = await longRun(run);
  for (const [index, pass] of passes.entries()) {
    const { before, after, effective, landing } = pass;
    // No prices: what a pass frees is a fixed share of the room, 40 % of it, so breaks are rare whatever they cost.
    expect(landing).toBeLessThan(effective * 0.7);
    expect(after).toBeLessThanOrEqual(landing);
    expect(before - after).toBeGreaterThanOrEqual(effective - landing);
    const earlier = passes[index - 1];
    if (earlier) expect(before - earlier.after).toBeGreaterThanOrEqual(effective - landing);
  }
});

test.each([
  { chars: 300, placeholders: 'none' },
  { chars: 600, placeholders: 'none' },
  { chars: 6_000, placeholders: 'some' },
])('B98: results of $chars characters get $placeholders, since each must save enough', async ({ chars, placeholders }) => {
  const entries: transcript.Entry[] = [];
  appendEntries(entries, [{ user: 'go' }, { rounds: Math.ceil(90_000 / chars), text: { kind: 'prose', chars } }]);
  const input: LadderInput = {
    system: 'rules',
    tools: [],
    entries,
    checkpoint: undefined,
    generation: 0,
    reason: compaction.PassReason.THRESHOLD,
    window: 32_768,
    measured: 0,
    goalAndPlan: [],
    summarizers: [],
    failedSummaries: { inARow: 0, atTokens: 0 },
    nowMs: 1,
  };
  const result = await runLadder(input, { store: new MemoryStore(), clock: () => 0 });
  const micro = result.tiers.find(({ tier }) => tier === 'micro');
  expect(micro).toMatchObject(
    placeholders === 'none' ? { outcome: 'skipped', reason: 'no old result is worth a placeholder' } : { outcome: 'applied' },
  );
  const placed = create(compaction.CheckpointSchema, result.checkpoint).replacements.filter(
    ({ kind }) => kind === compaction.ReplacementKind.MICRO,
  );
  for (const { seq, text } of placed) {
    const whole = estimateEntry(entries[seq - 1]!);
    expect(whole - estimateText(text)).toBeGreaterThanOrEqual(Math.max(200, whole / 2));
  }
});
