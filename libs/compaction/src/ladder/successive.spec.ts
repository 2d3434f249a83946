import { create } from '@bufbuild/protobuf';
import { compaction, NightshiftError } from '@nightshift/contracts';
import { History } from '../conformance/history';
import { brokenInvariants } from '../conformance/invariants';
import { MemoryStore } from '../conformance/memory-store';
import { summarizers } from '../conformance/summarizers';
import { reinjectedPart } from '../view/checkpoint-message';
import { visibleSeqs } from '../view/render';
import type { LadderInput } from './input';
import type { LadderPorts } from './ports';
import { runLadder } from './run';

const passes = 20;
const pinned = [
  create(compaction.ReinjectedSchema, { kind: 'goal', text: 'Ship it.\n- [ ] tests green 🚀' }),
  create(compaction.ReinjectedSchema, { kind: 'plan', text: '[x] read\n[>] write\n[ ] test' }),
];
const system = 'RULES: never force-push.';

type Summarize = NonNullable<LadderPorts['summarize']>;
let now = 0;
const scripted: Record<string, Summarize> = {
  extractive: summarizers.extractive,
  verbose: summarizers.verbose,
  empty: summarizers.empty,
  refusing: summarizers.refusing,
  failing: summarizers.failing,
  slow: ({ timeoutMs }) => {
    now += timeoutMs;
    return Promise.reject(new NightshiftError('DEADLINE_EXCEEDED', 'no answer'));
  },
};

const scenarios = Object.keys(scripted).flatMap((name) => [
  { name, steerChars: 600, steer: 0.15 },
  // User text alone exceeds the threshold here.
  { name, steerChars: 90_000, steer: 0.4 },
]);

test.each(scenarios)(
  '20 passes with a summarizer that is $name, user texts of up to $steerChars characters',
  async ({ name, steerChars, steer }) => {
    const history = new History({ seed: 20, steer, steerChars, goalChars: 400, images: 0.05 });
    const store = new MemoryStore();
    const before = history.entries.map((entry) => entry.id);
    let checkpoint: compaction.Checkpoint | undefined;
    let failures = { inARow: 0, atTokens: 0 };
    const views: string[] = [];
    for (let pass = 0; pass < passes; pass++) {
      history.grow(8);
      const { seqs, afterSeq } = visibleSeqs(checkpoint);
      const input: LadderInput = {
        system,
        tools: [],
        entries: history.entries.filter((entry) => entry.seq > afterSeq || seqs.includes(entry.seq)),
        checkpoint,
        generation: checkpoint?.generation ?? 0,
        reason: compaction.PassReason.OVERFLOW,
        window: 32_768,
        measured: 0,
        goalAndPlan: pinned,
        summarizers: [{ provider: 'p', model: 'm', window: 32_768, inputMax: 0, outputMax: 0 }],
        failedSummaries: failures,
        nowMs: pass,
      };
      const summarize = scripted[name] as Summarize;
      const result = await runLadder(input, { summarize, store, clock: () => now });
      expect(await brokenInvariants({ input, entries: history.entries, result, store })).toEqual([]);
      failures = { inARow: result.summaryFailed ? failures.inARow + 1 : 0, atTokens: result.before };
      if (!result.checkpoint || !result.view) continue;
      checkpoint = result.checkpoint;
      expect(result.after).toBeLessThanOrEqual(result.threshold.effective);
      const texts = result.view.messages.flatMap(({ body }) =>
        body.case === 'user' ? body.value.parts.map(({ kind }) => (kind.case === 'text' ? kind.value : '')) : [],
      );
      const goal = history.entries[0]?.body;
      expect(texts).toEqual(expect.arrayContaining(pinned.map(reinjectedPart)));
      expect(texts[0]).toBe(
        goal?.case === 'user' && goal.value.parts[0]?.kind.case === 'text' ? goal.value.parts[0].kind.value : '',
      );
      expect(result.view.system).toBe(system);
      views.push(result.checkpoint.viewSha256);
    }
    // Entries are only ever appended, and every committed pass made a view of its own.
    expect(history.entries.slice(0, before.length).map((entry) => entry.id)).toEqual(before);
    expect(new Set(views).size).toBe(views.length);
    expect(views.length).toBeGreaterThan(passes / 2);
  },
);
