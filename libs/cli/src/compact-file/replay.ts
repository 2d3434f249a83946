import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { compaction, transcript } from '@nightshift/contracts';
import {
  checkers,
  confirmTokens,
  crosses,
  estimateEntry,
  estimatePrefix,
  estimateView,
  inflate,
  renderView,
  runLadder,
  thresholdFor,
  visibleSeqs,
  type ContentStore,
  type LadderPorts,
  type LadderResult,
} from '@nightshift/compaction';
import type { Session } from '../sessions/session';

export interface ReplayOptions {
  /** Context window, in tokens. */
  readonly window: number;
  /** Configured max output tokens; 0 = the provider's default. */
  readonly maxOutput: number;
  readonly summarize?: LadderPorts['summarize'];
  /** The model that `summarize` asks; its window is taken to be that of the session's model. */
  readonly summarizer?: { readonly provider: string; readonly model: string };
  readonly onProgress?: (done: number, of: number) => void;
  /** Milliseconds, for the times in tier reports. */
  readonly clock: () => number;
}

export interface ReplayedGeneration {
  readonly index: number;
  /** Messages the agent had exchanged when the pass ran. */
  readonly atMessage: number;
  readonly result: LadderResult;
  readonly valid: Readonly<Record<keyof typeof checkers, boolean>>;
  /** Parts that the view shows no more, those of them that can be restored, and the rest. */
  readonly hidden: number;
  readonly restorable: number;
  readonly dropped: number;
}

export interface Replay {
  readonly threshold: number;
  readonly effective: number;
  readonly generations: readonly ReplayedGeneration[];
  readonly view: transcript.View;
  readonly finalTokens: number;
  /** A pass that committed nothing ends the replay: why. */
  readonly stopped?: string;
}

/** Keeps what a pass hides, as the tool-result store would: content-addressed, byte-exact. */
export class MemoryStore implements ContentStore {
  private readonly items = new Map<string, Uint8Array>();

  put(item: { id: string; content: Uint8Array }): Promise<transcript.StoredReference> {
    this.items.set(item.id, Uint8Array.from(item.content));
    const sha256 = createHash('sha256').update(item.content).digest('hex');
    return Promise.resolve(create(transcript.StoredReferenceSchema, { id: item.id, sha256, bytes: item.content.length }));
  }

  get(id: string): Promise<Uint8Array> {
    const content = this.items.get(id);
    return content ? Promise.resolve(content) : Promise.reject(new Error(`nothing is stored under ${id}`));
  }
}

/** Plays a session again as a task would live it: before each answer of the model it is measured, and compacted when due. */
export async function replay(session: Session, options: ReplayOptions): Promise<Replay> {
  const { system, entries } = session;
  const tools = [...session.tools];
  const prefix = estimatePrefix({ system, tools });
  const estimates = new Map(entries.map((entry) => [entry.seq, estimateEntry(entry)]));
  const first = entries[0];
  // Inflated, as a pass counts them: there is no report of a provider in a file.
  const fixed = {
    system: inflate(estimatePrefix({ system, tools: [] })),
    tools: tools.length > 0 ? inflate(estimatePrefix({ system: '', tools })) : 0,
    firstMessage: first ? inflate(estimates.get(first.seq) ?? 0) : 0,
    goalAndPlan: 0,
  };
  const threshold = thresholdFor({ window: options.window, maxOutput: options.maxOutput, fixed });
  const store = new MemoryStore();
  const generations: ReplayedGeneration[] = [];
  let checkpoint: compaction.Checkpoint | undefined;
  let visible = 0;
  let stopped: string | undefined;

  const shown = (through: number) => {
    const { seqs, afterSeq } = visibleSeqs(checkpoint);
    const kept = new Set(seqs);
    return entries.filter((entry) => entry.seq <= through && (entry.seq > afterSeq || kept.has(entry.seq)));
  };

  const compactIfDue = async (at: number, through: number, nowMs: number): Promise<void> => {
    const known = () => ({ system, tools, entries: shown(through), ...(checkpoint ? { checkpoint } : {}) });
    if (stopped !== undefined || !(await isOver(prefix + visible, threshold.effective, () => renderView(known())))) return;
    const { summarize, summarizer = { provider: 'session', model: 'session' } } = options;
    const input = {
      ...known(),
      estimates,
      generation: generations.length,
      reason: compaction.PassReason.THRESHOLD,
      window: options.window,
      maxOutput: options.maxOutput,
      measured: 0,
      goalAndPlan: [],
      summarizers: summarize ? [{ ...summarizer, window: options.window, inputMax: 0, outputMax: 0 }] : [],
      nowMs,
    };
    const result = await runLadder(input, { store, clock: options.clock, ...(summarize ? { summarize } : {}) });
    if (result.checkpoint && result.view) {
      checkpoint = result.checkpoint;
      visible = estimateView(result.view) - prefix;
      generations.push(describe(generations.length + 1, at, result, result.view));
    } else if (result.outcome !== compaction.PassOutcome.NO_LONGER_DUE) stopped = result.reason;
  };

  for (const [at, entry] of entries.entries()) {
    options.onProgress?.(at, entries.length);
    if (entry.body.case === 'assistant' && at > 0) await compactIfDue(at, entry.seq - 1, Number(entry.atMs));
    visible += estimates.get(entry.seq) ?? 0;
  }
  // A session that does not end with the model's answer is about to ask for one.
  const last = entries.at(-1);
  if (last && last.body.case !== 'assistant') await compactIfDue(entries.length, last.seq, Number(last.atMs));
  options.onProgress?.(entries.length, entries.length);
  const view = renderView({ system, tools, entries: shown(entries.length), ...(checkpoint ? { checkpoint } : {}) });
  const finalTokens = await confirmTokens(viewTexts(view));
  return {
    threshold: threshold.threshold,
    effective: threshold.effective,
    generations,
    view,
    finalTokens,
    ...(stopped === undefined ? {} : { stopped }),
  };
}

/** A crossing of the inflated estimate counts when the tokenizer's count crosses too. */
async function isOver(estimate: number, effective: number, view: () => transcript.View): Promise<boolean> {
  const measured = { tokens: inflate(estimate), source: 'estimate', needsConfirmation: true, why: '' } as const;
  if (crosses(measured, effective) === 'no') return false;
  return crosses(measured, effective, await confirmTokens(viewTexts(view()))) === 'yes';
}

function describe(index: number, atMessage: number, result: LadderResult, view: transcript.View): ReplayedGeneration {
  // Reasoning may be dropped and is no loss of content; it is counted apart in the ledger.
  const sum = (wanted: string) =>
    result.loss.rows
      .filter(({ fate, kind }) => fate === wanted && kind !== 'reasoning')
      .reduce((total, { count }) => total + count, 0);
  return {
    index,
    atMessage,
    result,
    valid: {
      anthropic: checkers.anthropic(view).length === 0,
      openaiChat: checkers.openaiChat(view).length === 0,
      openaiResponses: checkers.openaiResponses(view).length === 0,
    },
    hidden: sum('hidden'),
    restorable: sum('restorable'),
    dropped: sum('dropped'),
  };
}

/** Every text of a view, for the tokenizer. */
export function viewTexts(view: transcript.View): string[] {
  const parts = (list: readonly transcript.Part[]) => list.flatMap(({ kind }) => (kind.case === 'text' ? [kind.value] : []));
  return [
    view.system,
    ...view.tools.flatMap(({ name, description, inputSchemaJson }) => [name, description, inputSchemaJson]),
    ...view.messages.flatMap(({ body }) => {
      switch (body.case) {
        case 'user':
          return parts(body.value.parts);
        case 'toolResults':
          return body.value.results.flatMap((result) => parts(result.parts));
        case 'assistant':
          return body.value.blocks.flatMap(({ kind }) =>
            kind.case === 'text'
              ? [kind.value]
              : kind.case === 'toolCall'
                ? [kind.value.name, kind.value.argumentsJson]
                : kind.case === 'reasoning'
                  ? [kind.value.text]
                  : [],
          );
        default:
          return [];
      }
    }),
  ];
}
