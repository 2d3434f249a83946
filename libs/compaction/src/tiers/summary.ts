import { create } from '@bufbuild/protobuf';
import { NightshiftError, transcript } from '@nightshift/contracts';
import type { Base } from '../ladder/base';
import { raw } from '../ladder/plan';
import type { Plan } from '../ladder/plan';
import { stopReason } from '../ladder/ports';
import type { LadderPorts, Summarizer, SummaryCall } from '../ladder/ports';
import { estimateView } from '../measure/estimate';
import { estimateText } from '../measure/text-estimate';
import { renderView } from '../view/render';
import { summaryAllowed } from '../state/breaker';
import { imagePlaceholder } from './images';
import { mapReduce } from './map-reduce';
import { appendedView, promptView, summaryInstruction, textPrompt } from './summary-prompt';
import { fitSections, missingSections, sectionsFor } from './summary-sections';
import type { Section } from './summary-sections';
import { messageText, shortenedTexts } from './summary-text';

export const callTimeoutMs = 120_000;
/** Room for what a model thinks before it writes; the summary itself is limited by its instruction. */
const thinkingTokens = 4_096;
const shortenedChars = 1_200;

export type SummaryResult =
  | {
      readonly outcome: 'written';
      readonly summary: string;
      readonly calls: number;
      readonly prefixBreak: boolean;
      readonly reason: string;
    }
  | { readonly outcome: 'failed'; readonly reason: string; readonly calls: number; readonly prefixBreak: boolean }
  | { readonly outcome: 'skipped'; readonly reason: string; readonly streak: boolean };

/** Everything the calls of one summary share. */
export interface SummaryJob {
  readonly plan: Plan;
  readonly ports: LadderPorts;
  readonly sections: readonly Section[];
  /** Of the summary itself, plain estimate. */
  readonly budget: number;
  readonly focus: string;
  readonly timeLeft: () => number;
}

/** A summary by the model that runs the task, over the full transcript; one retry that is strictly smaller. */
export async function summaryTier(plan: Plan, base: Base, ports: LadderPorts, timeLeft: () => number): Promise<SummaryResult> {
  const skip = (reason: string, streak = false): SummaryResult => ({ outcome: 'skipped', reason, streak });
  if (!base.hideable) return skip('nothing new to summarise');
  if (!ports.summarize || plan.input.summarizers.length === 0) return skip('no summarizer');
  const failed = plan.input.failedSummaries ?? { inARow: 0, atTokens: 0 };
  if (!summaryAllowed({ failedInARow: failed.inARow, failedAtTokens: failed.atTokens, measured: plan.before })) {
    return skip(`${failed.inARow} failed summaries in a row; waits for 25 % growth over ${failed.atTokens} tokens`, true);
  }
  const budget = raw(plan, plan.budgets.summary);
  const job = { plan, ports, sections: sectionsFor(plan.budgets.summary), budget, focus: plan.input.focus ?? '', timeLeft };
  return new Summary(job).write();
}

class Summary {
  private calls = 0;
  private readonly view: transcript.View;
  private readonly prefixBreak: boolean;

  constructor(private readonly job: SummaryJob) {
    const { input } = job.plan;
    const view = renderView(input);
    const stripped = withoutImages(view, job.plan);
    this.view = stripped;
    this.prefixBreak = stripped !== view;
  }

  async write(): Promise<SummaryResult> {
    const first = await this.first();
    if ('text' in first) return this.written(first.text, first.how);
    if (isFinal(first.fault)) return this.failed(first.fault);
    const second = await this.second(first);
    if ('text' in second) return this.written(second.text, `${second.how} after: ${first.fault}`);
    return this.failed(`${first.fault}; ${second.fault}`);
  }

  private async first(): Promise<Attempt> {
    const instruction = summaryInstruction(this.job.sections, this.job.budget, this.job.focus);
    const view = appendedView(this.view, instruction);
    const { beforeRaw, scale } = this.job.plan;
    // Images that became text make it smaller still.
    const tokens = Math.ceil((beforeRaw + estimateText(instruction)) * scale);
    // Less room to think is better than reading the transcript in parts, which no prompt cache serves.
    const candidates = holding(this.job.plan.input.summarizers, tokens, this.leastOutput());
    if (candidates.length > 0) {
      const room = Math.min(...candidates.map((one) => outputRoom(one, tokens)));
      const maxOutput = Math.min(this.outputTokens(1), room);
      return this.ask({ kind: 'append', attempt: 1, view, tokens, maxOutput, candidates });
    }
    return this.reduced();
  }

  /** Strictly smaller than the first: the record as data, long outputs shortened, no tools. */
  private async second(first: { readonly fault: string; readonly tokens: number }): Promise<Attempt> {
    const texts = shortenedTexts(this.view.messages.map(messageText), shortenedChars);
    const prompt = textPrompt(texts.join('\n'), this.job.sections, this.job.budget, first.fault, this.job.focus);
    const view = promptView(prompt);
    const tokens = Math.ceil(estimateView(view) * this.job.plan.scale);
    const maxOutput = this.outputTokens(2);
    if (tokens >= first.tokens) return { fault: `a retry cannot be made smaller than ${first.tokens} tokens`, tokens };
    const candidates = holding(this.job.plan.input.summarizers, tokens, maxOutput);
    if (candidates.length === 0) return { fault: 'no summarizer holds the shortened record', tokens };
    return this.ask({ kind: 'text', attempt: 2, view, tokens, maxOutput, candidates });
  }

  private async reduced(): Promise<Attempt> {
    const texts = this.view.messages.map(messageText);
    const result = await mapReduce(this.job, texts, this.outputTokens(1));
    this.calls += result.calls;
    if ('fault' in result) return { fault: result.fault, tokens: result.tokens };
    const fault = this.faultOf(result.text);
    return fault === undefined
      ? { text: result.text, how: `map-reduce in ${result.chunks} parts` }
      : { fault, tokens: result.tokens };
  }

  private async ask(call: {
    kind: SummaryCall['kind'];
    attempt: number;
    view: transcript.View;
    tokens: number;
    maxOutput: number;
    candidates: readonly Summarizer[];
  }): Promise<Attempt> {
    const { tokens } = call;
    this.calls++;
    const answer = await answerOf(this.job, {
      kind: call.kind,
      attempt: call.attempt,
      view: call.view,
      maxOutputTokens: call.maxOutput,
      inputTokens: tokens,
      candidates: call.candidates,
    });
    if ('fault' in answer) return { fault: answer.fault, tokens };
    const fault = this.faultOf(answer.text);
    return fault === undefined ? { text: answer.text, how: call.kind } : { fault, tokens };
  }

  private faultOf(text: string): string | undefined {
    return summaryFault(text, this.job.sections);
  }

  private outputTokens(attempt: number): number {
    const { summarizers } = this.job.plan.input;
    const thinking = Math.min(thinkingTokens, ...summarizers.map((s) => Math.floor(s.window / 8)));
    const wanted = Math.ceil(this.job.plan.budgets.summary * 1.5) + thinking * attempt;
    const caps = summarizers.map((s) => s.outputMax).filter((cap) => cap > 0);
    return Math.min(wanted, ...caps);
  }

  /** The summary with a third more, since models overshoot, and a little room to think. */
  private leastOutput(): number {
    return Math.min(this.outputTokens(1), Math.ceil(this.job.plan.budgets.summary * 1.3) + 512);
  }

  private written(text: string, reason: string): SummaryResult {
    const summary = fitSections(text.trim(), this.job.budget - 16);
    return { outcome: 'written', summary, calls: this.calls, prefixBreak: this.prefixBreak, reason };
  }

  private failed(reason: string): SummaryResult {
    return { outcome: 'failed', reason, calls: this.calls, prefixBreak: this.prefixBreak };
  }
}

type Attempt = { readonly text: string; readonly how: string } | { readonly fault: string; readonly tokens: number };

/** Why a text cannot stand for a conversation; undefined when it can. */
export function summaryFault(text: string, sections: readonly Section[]): string | undefined {
  if (text.trim() === '') return 'the answer is empty';
  if (!text.isWellFormed()) return 'the answer is not well-formed text';
  const missing = missingSections(text, sections);
  return missing.length === 0 ? undefined : `sections ${missing.join(', ')} are missing`;
}

/** One call, its answer reduced to text. Faults are told, not thrown, except a stop. */
export async function answerOf(
  job: SummaryJob,
  call: Omit<SummaryCall, 'timeoutMs'>,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  const timeoutMs = Math.min(callTimeoutMs, job.timeLeft());
  if (timeoutMs <= 0) return { fault: `${outOfTime}` };
  if (!job.ports.summarize) return { fault: 'no summarizer' };
  let message: transcript.AssistantMessage;
  try {
    message = await job.ports.summarize({ ...call, timeoutMs });
  } catch (thrown) {
    const error = NightshiftError.from(thrown);
    if (job.ports.signal?.aborted) throw stopReason(job.ports.signal);
    if (error.code === 'CANCELLED') throw error;
    return { fault: error.message };
  }
  const texts: string[] = [];
  for (const { kind } of message.blocks) {
    if (kind.case === 'toolCall') return { fault: `the answer calls the tool ${kind.value.name}` };
    if (kind.case === 'text') texts.push(kind.value);
  }
  const text = texts.join('\n').trim();
  if (text !== '') return { text };
  const cut = message.stopReason === transcript.StopReason.LENGTH;
  return {
    fault: `the answer is empty${message.blocks.length > 0 ? ' (reasoning only)' : ''}${cut ? ', output limit reached' : ''}`,
  };
}

const outOfTime = 'the time of this pass is used up';

/** Asking again would end the same way. */
export function isFinal(fault: string): boolean {
  return fault.startsWith(outOfTime) || /^(PROVIDER_QUOTA|PROVIDER_AUTH|PERMISSION_DENIED|UNAUTHENTICATED)/.test(fault);
}

/** The summarizers that hold a request of so many tokens with the output, in the given order. */
export function holding(summarizers: readonly Summarizer[], tokens: number, maxOutput: number): Summarizer[] {
  return summarizers.filter((s) => tokens <= inputRoom(s, maxOutput));
}

/** Input tokens that a summarizer can take, with the margin that its own way of counting may need. */
export function inputRoom(summarizer: Summarizer, maxOutput: number): number {
  const output = summarizer.outputMax > 0 ? Math.min(maxOutput, summarizer.outputMax) : maxOutput;
  const room = Math.min(summarizer.window - output, summarizer.inputMax > 0 ? summarizer.inputMax : Number.POSITIVE_INFINITY);
  return room - Math.max(1_024, Math.floor(room / 50));
}

/** Output tokens that are left beside an input, with the same margin. */
function outputRoom(summarizer: Summarizer, tokens: number): number {
  return summarizer.window - tokens - Math.max(1_024, Math.floor(tokens / 50));
}

/** The view with images named instead of shown; the same object when there are none. */
function withoutImages(view: transcript.View, plan: Plan): transcript.View {
  const ids = new Map<transcript.Image, string>();
  for (const entry of plan.input.entries) {
    if (entry.body.case !== 'user' && entry.body.case !== 'toolResult') continue;
    for (const [i, { kind }] of entry.body.value.parts.entries())
      if (kind.case === 'image') ids.set(kind.value, plan.names.id(entry, i));
  }
  if (ids.size === 0) return view;
  let changed = false;
  const named = (parts: transcript.Part[]): transcript.Part[] =>
    parts.map((part) => {
      if (part.kind.case !== 'image') return part;
      changed = true;
      const value = imagePlaceholder(part.kind.value, ids.get(part.kind.value) ?? '');
      return create(transcript.PartSchema, { kind: { case: 'text', value } });
    });
  const messages = view.messages.map((message) => {
    const { body } = message;
    if (body.case === 'user') {
      const value = create(transcript.UserMessageSchema, { ...body.value, parts: named(body.value.parts) });
      return create(transcript.ViewMessageSchema, { body: { case: 'user', value } });
    }
    if (body.case !== 'toolResults') return message;
    const results = body.value.results.map((r) => create(transcript.ToolResultSchema, { ...r, parts: named(r.parts) }));
    const value = create(transcript.ToolResultsSchema, { results });
    return create(transcript.ViewMessageSchema, { body: { case: 'toolResults', value } });
  });
  return changed ? create(transcript.ViewSchema, { ...view, messages }) : view;
}
