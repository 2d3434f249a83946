import { head } from '../text/cut';
import { estimateText } from '../measure/text-estimate';
import { estimateView } from '../measure/estimate';
import type { Summarizer } from '../ladder/ports';
import { answerOf, inputRoom, isFinal } from './summary';
import type { SummaryJob } from './summary';
import { chunkPrompt, promptView, reducePrompt } from './summary-prompt';
import { chunksOf } from './summary-text';

/** Chunks in flight at the same time. */
const lanes = 3;
/** Reducing again and again would not end if a model answered with more than it was given. */
const rounds = 4;
/** Prompt around a chunk, in tokens. */
const frame = 400;
/** More parts than this cannot be read within the time of a pass. */
const partLimit = 64;

export type Reduced =
  | { readonly text: string; readonly chunks: number; readonly calls: number; readonly tokens: number }
  | { readonly fault: string; readonly calls: number; readonly tokens: number };

/** How a transcript that no summarizer holds is read: in how many parts, by whom. */
export interface ChunkPlan {
  readonly summarizer: Summarizer;
  readonly chunks: readonly { readonly text: string; readonly tokens: number }[];
  /** Tokens of a part at most. */
  readonly room: number;
}

/**
 * Parts that fit the summarizer with the largest window. Every character of the texts is in exactly one part.
 * @param scale counted tokens to a plain estimate
 */
export function planChunks(
  texts: readonly string[],
  summarizers: readonly Summarizer[],
  maxOutput: number,
  scale: number,
): ChunkPlan | undefined {
  const largest = summarizers.toSorted((a, b) => inputRoom(b, maxOutput) - inputRoom(a, maxOutput))[0];
  if (!largest) return undefined;
  const room = Math.floor((inputRoom(largest, maxOutput) - frame) / scale);
  if (room < 500) return undefined;
  let chars = 0;
  let tokens = 0;
  for (const text of texts) {
    chars += text.length;
    tokens += estimateText(text);
  }
  // One dense text can be denser than the average: parts that come out too large are cut again, smaller.
  let size = Math.max(1_000, Math.floor(room * 0.9 * (chars / Math.max(1, tokens))));
  for (;;) {
    const chunks = chunksOf(texts, size).map((text) => ({ text, tokens: estimateText(text) }));
    if (size <= 1_000 || chunks.every((chunk) => chunk.tokens <= room)) return { summarizer: largest, chunks, room };
    size = Math.floor(size * 0.7);
  }
}

/** Notes on each part, then one summary from all notes; notes that do not fit together are reduced first. */
export async function mapReduce(job: SummaryJob, texts: readonly string[], maxOutput: number): Promise<Reduced> {
  let calls = 0;
  let chunks = 0;
  let largest = 0;
  let current = texts;
  for (let round = 0; round < rounds; round++) {
    const plan = planChunks(current, job.plan.input.summarizers, maxOutput, job.plan.scale);
    if (!plan) return { fault: 'no summarizer has room for even a part of the transcript', calls, tokens: largest };
    if (plan.chunks.length > partLimit) {
      return { fault: `the transcript would take ${plan.chunks.length} parts, ${partLimit} at most`, calls, tokens: largest };
    }
    chunks ||= plan.chunks.length;
    const budget = Math.max(200, Math.min(2_000, Math.floor((plan.room * 0.6) / plan.chunks.length)));
    const mapped = await mapParts(job, plan, budget, maxOutput);
    calls += mapped.calls;
    largest = Math.max(largest, mapped.tokens);
    if ('fault' in mapped) return { fault: mapped.fault, calls, tokens: largest };
    const view = promptView(reducePrompt(mapped.notes, job.sections, job.budget, job.focus));
    const tokens = Math.ceil(estimateView(view) * job.plan.scale);
    largest = Math.max(largest, tokens);
    if (tokens <= inputRoom(plan.summarizer, maxOutput)) {
      const candidates = [plan.summarizer];
      const answer = await answerOf(job, {
        kind: 'reduce',
        attempt: 1,
        view,
        maxOutputTokens: maxOutput,
        inputTokens: tokens,
        candidates,
      });
      calls++;
      return 'fault' in answer
        ? { fault: answer.fault, calls, tokens: largest }
        : { text: answer.text, chunks, calls, tokens: largest };
    }
    current = mapped.notes;
  }
  return { fault: `notes did not fit after ${rounds} rounds`, calls, tokens: largest };
}

type Mapped =
  | { readonly notes: readonly string[]; readonly calls: number; readonly tokens: number }
  | { readonly fault: string; readonly calls: number; readonly tokens: number };

async function mapParts(job: SummaryJob, plan: ChunkPlan, budget: number, maxOutput: number): Promise<Mapped> {
  const notes: string[] = new Array<string>(plan.chunks.length).fill('');
  let next = 0;
  let calls = 0;
  let largest = 0;
  let fault: string | undefined;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < plan.chunks.length && fault === undefined; i = next++) {
      const chunk = plan.chunks[i] ?? { text: '', tokens: 0 };
      const view = promptView(chunkPrompt(chunk.text, i, plan.chunks.length, budget));
      const tokens = Math.ceil(chunk.tokens * job.plan.scale) + frame;
      largest = Math.max(largest, tokens);
      const call = {
        kind: 'chunk',
        view,
        maxOutputTokens: maxOutput,
        inputTokens: tokens,
        candidates: [plan.summarizer],
      } as const;
      // A part that nobody read must not be hidden: one more try each, then the summary as a whole has failed.
      for (let attempt = 1; attempt <= 2 && fault === undefined; attempt++) {
        calls++;
        const answer = await answerOf(job, { ...call, attempt });
        if ('text' in answer) {
          // A model that writes more than it was asked for would make reducing go on for ever.
          notes[i] = head(answer.text, budget * 5);
          break;
        }
        if (attempt === 2 || isFinal(answer.fault)) fault = `part ${i + 1} of ${plan.chunks.length}: ${answer.fault}`;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, plan.chunks.length) }, lane));
  return fault === undefined ? { notes, calls, tokens: largest } : { fault, calls, tokens: largest };
}
