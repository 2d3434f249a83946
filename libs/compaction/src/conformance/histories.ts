import { create } from '@bufbuild/protobuf';
import { compaction, transcript } from '@nightshift/contracts';
import type { LadderInput } from '../ladder/input';
import { runLadder } from '../ladder/run';
import type { LadderResult } from '../ladder/run';
import { estimateMessages } from '../measure/estimate';
import { visibleSeqs } from '../view/render';
import { History } from './history';
import { brokenInvariants } from './invariants';
import { MemoryStore } from './memory-store';
import { Random } from './random';
import { summarizerNames, summarizers } from './summarizers';
import type { SummarizerName } from './summarizers';

/** One generated task: its history grows and is compacted, pass after pass. */
export interface Scenario {
  readonly seed: number;
  readonly window: number;
  readonly rounds: number;
  readonly passes: number;
  readonly huge: number;
  readonly goalChars: number;
  readonly steerChars: number;
  readonly summarizer: SummarizerName;
  readonly reason: compaction.PassReason;
}

export const scenarioSpace = {
  window: [8_192, 16_384, 32_768, 65_536, 200_000],
  huge: [0, 0, 0.01, 0.05],
  goalChars: [50, 2_000, 40_000],
  steerChars: [100, 3_000, 12_000],
  reason: [compaction.PassReason.THRESHOLD, compaction.PassReason.MANUAL, compaction.PassReason.OVERFLOW],
  maxRounds: 12,
  maxPasses: 3,
} as const;

/** The n-th scenario of a fixed, endless list. */
export function scenarioOf(seed: number): Scenario {
  const random = new Random(seed ^ 0x5bd1e995);
  const pick = <T>(items: readonly T[]): T => items[random.whole(0, items.length - 1)] as T;
  return {
    seed,
    window: pick(scenarioSpace.window),
    rounds: random.whole(1, scenarioSpace.maxRounds),
    passes: random.whole(1, scenarioSpace.maxPasses),
    huge: pick(scenarioSpace.huge),
    goalChars: pick(scenarioSpace.goalChars),
    steerChars: pick(scenarioSpace.steerChars),
    summarizer: pick(summarizerNames),
    reason: pick(scenarioSpace.reason),
  };
}

const goalAndPlan = [
  create(compaction.ReinjectedSchema, { kind: 'goal', label: '', text: 'Make the build green.\n- [ ] tests pass' }),
  create(compaction.ReinjectedSchema, { kind: 'plan', label: '', text: '1. read\n2. fix\n3. test 🚀' }),
];
const tools = [
  create(transcript.ToolSchemaSchema, { name: 'read_file', description: 'Reads a file.', inputSchemaJson: '{"type":"object"}' }),
];

export interface HistoryReport {
  /** What was broken, with the pass it happened in; empty = nothing. */
  readonly broken: readonly string[];
  readonly passes: number;
  readonly commits: number;
}

/** Plays one scenario and checks every invariant after every pass. */
export async function playHistory(scenario: Scenario): Promise<HistoryReport> {
  const history = new History(scenario);
  const store = new MemoryStore();
  const broken: string[] = [];
  let checkpoint: compaction.Checkpoint | undefined;
  let commits = 0;
  for (let pass = 1; pass <= scenario.passes; pass++) {
    history.grow(scenario.rounds);
    const input = inputOf(scenario, history, checkpoint);
    let now = 0;
    const result = await runLadder(input, { summarize: summarizers[scenario.summarizer], store, clock: () => now++ });
    const found = await brokenInvariants({ input, entries: history.entries, result, store });
    broken.push(...[...found, ...misjudged(scenario, result)].map((what) => `pass ${pass}: ${what}`));
    if (!result.checkpoint) continue;
    commits++;
    checkpoint = result.checkpoint;
  }
  return { broken, passes: scenario.passes, commits };
}

function inputOf(scenario: Scenario, history: History, checkpoint: compaction.Checkpoint | undefined): LadderInput {
  const { seqs, afterSeq } = visibleSeqs(checkpoint);
  const kept = new Set(seqs);
  return {
    system: 'You are an agent. Rules: be careful.',
    tools,
    entries: history.entries.filter((entry) => entry.seq > afterSeq || kept.has(entry.seq)),
    checkpoint,
    generation: checkpoint?.generation ?? 0,
    reason: scenario.reason,
    window: scenario.window,
    measured: 0,
    goalAndPlan,
    summarizers: [{ provider: 'p', model: 'm', window: scenario.window, inputMax: 0, outputMax: 0 }],
    nowMs: 1,
  };
}

/** Figures and outcomes: the meter is the rendered view's, and an automatic pass always ends at or below T′. */
function misjudged(scenario: Scenario, result: LadderResult): string[] {
  const { checkpoint, view, threshold, outcome } = result;
  if (checkpoint && view) {
    const wrong: string[] = [];
    const rendered = estimateMessages(view.messages);
    if (checkpoint.viewEstimate !== rendered) wrong.push(`the meter says ${checkpoint.viewEstimate}, the view costs ${rendered}`);
    if (result.after > threshold.effective) wrong.push(`${result.after} tokens after, ${threshold.effective} allowed`);
    return wrong;
  }
  const allowed =
    threshold.irreducible !== undefined ||
    outcome === compaction.PassOutcome.NO_LONGER_DUE ||
    scenario.reason !== compaction.PassReason.THRESHOLD;
  return allowed ? [] : [`nothing was committed: ${result.reason}`];
}
