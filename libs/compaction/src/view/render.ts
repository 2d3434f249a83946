import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import type { compaction } from '@nightshift/contracts';
import { blockParts, summaryParts } from './checkpoint-message';
import { emptyMessage, noOutput, noticeText } from './notice';
import { abortedResult, callsOf, unitsOf } from './pairing';
import type { Unit } from './pairing';
import { replacementsBySeq } from './replacements';
import type { Replacements } from './replacements';

export interface RenderInput {
  readonly system: string;
  readonly tools: readonly transcript.ToolSchema[];
  readonly checkpoint?: compaction.Checkpoint;
  /** Ascending. Hidden ones may be left out: only what `visibleSeqs` names is read. */
  readonly entries: readonly transcript.Entry[];
}

/** What a view needs to be loaded: single seqs before the boundary and everything after it. */
export function visibleSeqs(checkpoint: compaction.Checkpoint | undefined): {
  readonly seqs: readonly number[];
  readonly afterSeq: number;
} {
  return { seqs: checkpoint?.verbatimUserSeqs ?? [], afterSeq: checkpoint?.hiddenThroughSeq ?? 0 };
}

/**
 * The view: entries as the newest checkpoint lets them be seen. Same input, same bytes; appending entries only appends
 * messages, so that a provider's prompt cache keeps serving the prefix.
 */
export function renderView(input: RenderInput): transcript.View {
  const messages: transcript.ViewMessage[] = [];
  const view: MessageWriter = new MessageWriter(messages, input.checkpoint);
  const boundary = input.checkpoint?.hiddenThroughSeq ?? 0;
  const kept = new Set(input.checkpoint?.verbatimUserSeqs);
  const visible = input.entries.filter((entry) => entry.seq > boundary || kept.has(entry.seq));
  const after = visible.findIndex((entry) => entry.seq > boundary);
  const split = after < 0 ? visible.length : after;
  for (const entry of visible.slice(0, split)) view.user(entry);
  view.checkpoint();
  for (const unit of unitsOf(visible.slice(split))) view.unit(unit);
  view.end();
  // A session that begins with the model's own words: every provider wants a user message first.
  if (messages[0]?.body.case !== 'user') messages.unshift(userMessage([text('(the conversation starts here)')]));
  return create(transcript.ViewSchema, {
    system: input.system,
    tools: [...input.tools],
    messages,
    generation: input.checkpoint?.generation ?? 0,
  });
}

export const text = (value: string): transcript.Part => create(transcript.PartSchema, { kind: { case: 'text', value } });

function userMessage(parts: readonly transcript.Part[], origin = transcript.UserOrigin.UNSPECIFIED): transcript.ViewMessage {
  const value = create(transcript.UserMessageSchema, { parts: [...parts], origin });
  return create(transcript.ViewMessageSchema, { body: { case: 'user', value } });
}

class MessageWriter {
  private readonly replacements: Replacements;
  private readonly aborted: ReadonlySet<string>;
  private readonly blockAfter: number;
  private readonly reasoningThrough: number;
  private blockDue: boolean;

  constructor(
    private readonly messages: transcript.ViewMessage[],
    private readonly of: compaction.Checkpoint | undefined,
  ) {
    this.replacements = replacementsBySeq(of?.replacements ?? []);
    this.aborted = new Set(of?.abortedCallIds);
    this.blockAfter = Math.max(of?.blockAfterSeq ?? 0, of?.hiddenThroughSeq ?? 0);
    this.reasoningThrough = of?.reasoningDroppedThroughSeq ?? 0;
    this.blockDue = (of?.reinjected.length ?? 0) > 0;
  }

  checkpoint(): void {
    if (!this.of) return;
    const parts = summaryParts(this.of);
    if (this.blockDue && this.blockAfter === this.of.hiddenThroughSeq) {
      parts.push(...blockParts(this.of));
      this.blockDue = false;
    }
    if (parts.length > 0) this.messages.push(userMessage(parts.map(text)));
  }

  unit(unit: Unit): void {
    if (this.blockDue && unit.from > this.blockAfter) this.end();
    switch (unit.kind) {
      case 'user':
        return this.user(unit.head);
      case 'note':
        return this.note(unit.head);
      case 'round':
        return this.round(unit);
      case 'stray':
        return this.stray(unit.head);
    }
  }

  /** Writes the re-injected block if it has not been written yet. */
  end(): void {
    if (!this.blockDue || !this.of) return;
    this.blockDue = false;
    this.messages.push(userMessage(blockParts(this.of).map(text)));
  }

  user(entry: transcript.Entry): void {
    if (entry.body.case !== 'user') return;
    const parts = this.parts(entry.seq, entry.body.value.parts).filter(
      (part) => part.kind.case !== 'text' || part.kind.value !== '',
    );
    this.messages.push(userMessage(parts.length > 0 ? parts : [text(emptyMessage)], entry.body.value.origin));
  }

  private note(entry: transcript.Entry): void {
    if (entry.body.case === 'note') this.messages.push(userMessage([text(noticeText(entry.body.value))]));
  }

  private round(unit: Unit): void {
    if (unit.head.body.case !== 'assistant') return;
    const message = unit.head.body.value;
    const blocks = this.blocks(unit.head.seq, message.blocks);
    // An aborted turn may have said nothing; reasoning alone is refused by every provider.
    if (blocks.some((block) => block.kind.case !== 'reasoning')) {
      const value = create(transcript.AssistantMessageSchema, { ...message, blocks });
      this.messages.push(create(transcript.ViewMessageSchema, { body: { case: 'assistant', value } }));
    }
    const results = callsOf(unit).map((call, i) => this.result(call, unit.results[i]));
    if (results.length > 0) {
      const value = create(transcript.ToolResultsSchema, { results });
      this.messages.push(create(transcript.ViewMessageSchema, { body: { case: 'toolResults', value } }));
    }
    for (const entry of unit.aside) {
      if (entry.body.case === 'user') this.user(entry);
      else if (entry.body.case === 'note') this.note(entry);
    }
  }

  private result(call: transcript.ToolCall, entry: transcript.Entry | undefined): transcript.ToolResult {
    if (!entry || entry.body.case !== 'toolResult' || this.aborted.has(call.id)) return abortedResult(call);
    const result = entry.body.value;
    const parts = this.parts(entry.seq, result.parts);
    const filled = parts.some((part) => part.kind.case === 'image' || (part.kind.value ?? '') !== '');
    if (filled && parts === result.parts) return result;
    return create(transcript.ToolResultSchema, { ...result, parts: filled ? parts : [text(noOutput)] });
  }

  /** A result whose call is not in the transcript: no provider takes it as a result, so it is shown as text. */
  private stray(entry: transcript.Entry): void {
    if (entry.body.case !== 'toolResult') return;
    const { tool, parts } = entry.body.value;
    const shown = this.parts(entry.seq, parts).filter((part) => part.kind.case !== 'text' || part.kind.value !== '');
    this.messages.push(userMessage([text(`[result of ${tool || 'a tool'} without its call]`), ...shown]));
  }

  private parts(seq: number, parts: transcript.Part[]): transcript.Part[] {
    const replaced = this.replacements.get(seq);
    if (!replaced) return parts;
    return parts.map((part, i) => {
      const replacement = replaced.get(i);
      return replacement ? text(replacement.text) : part;
    });
  }

  private blocks(seq: number, blocks: readonly transcript.Block[]): transcript.Block[] {
    const replaced = this.replacements.get(seq);
    const kept: transcript.Block[] = [];
    for (const [i, block] of blocks.entries()) {
      const replacement = replaced?.get(i);
      switch (block.kind.case) {
        case 'reasoning':
          if (seq > this.reasoningThrough) kept.push(block);
          break;
        case 'text': {
          const value = replacement?.text ?? block.kind.value;
          if (value.trim() !== '')
            kept.push(replacement ? create(transcript.BlockSchema, { kind: { case: 'text', value } }) : block);
          break;
        }
        case 'toolCall':
          kept.push(replacement ? withArguments(block.kind.value, replacement.text) : block);
          break;
        case undefined:
          break;
      }
    }
    return kept;
  }
}

function withArguments(call: transcript.ToolCall, argumentsJson: string): transcript.Block {
  const value = create(transcript.ToolCallSchema, { ...call, argumentsJson });
  return create(transcript.BlockSchema, { kind: { case: 'toolCall', value } });
}
