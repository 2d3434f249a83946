import type { transcript } from '@nightshift/contracts';
import { emptyMessage, noOutput, noticeText } from '../view/notice';
import { estimateText } from './text-estimate';

/** A flat price for an image wherever it stands, in tokens: providers price by pixels, not by the bytes of the file. */
export const imageTokens = 1_600;

/** 25 % more, for figures that no provider has confirmed. */
export function inflate(estimate: number): number {
  return estimate + Math.floor(estimate / 4);
}

export function estimateParts(parts: readonly transcript.Part[]): number {
  let total = 0;
  for (const part of parts) total += estimatePart(part);
  return total;
}

export function estimatePart(part: transcript.Part): number {
  switch (part.kind.case) {
    case 'text':
      // Empty parts are left out of a view.
      return part.kind.value === '' ? 0 : estimateText(part.kind.value);
    case 'image':
      return imageTokens;
    case undefined:
      return 0;
  }
}

export function estimateBlock(block: transcript.Block): number {
  switch (block.kind.case) {
    case 'text':
      return block.kind.value.trim() === '' ? 0 : estimateText(block.kind.value);
    case 'toolCall':
      return estimateText(block.kind.value.name) + estimateText(block.kind.value.argumentsJson);
    case 'reasoning':
      // A signature is not billed; an encrypted block stands for reasoning of about a quarter of its length.
      return estimateText(block.kind.value.text) + Math.floor(block.kind.value.opaqueJson.length / 4);
    case undefined:
      return 0;
  }
}

export function estimateBlocks(blocks: readonly transcript.Block[]): number {
  let total = 0;
  for (const block of blocks) total += estimateBlock(block);
  return total;
}

/** Plain estimate of one entry, in tokens, to be stored beside it: it never changes, since entries do not. */
export function estimateEntry(entry: Pick<transcript.Entry, 'body'>): number {
  switch (entry.body.case) {
    case 'user':
      return estimateParts(entry.body.value.parts) || estimateText(emptyMessage);
    case 'toolResult':
      return estimateParts(entry.body.value.parts) || estimateText(noOutput);
    case 'assistant':
      return estimateBlocks(entry.body.value.blocks);
    case 'note':
      return estimateText(noticeText(entry.body.value));
    case undefined:
      return 0;
  }
}

export function estimateMessage(message: transcript.ViewMessage): number {
  switch (message.body.case) {
    case 'user':
      return estimateParts(message.body.value.parts);
    case 'assistant':
      return estimateBlocks(message.body.value.blocks);
    case 'toolResults': {
      let total = 0;
      for (const result of message.body.value.results) total += estimateParts(result.parts);
      return total;
    }
    case undefined:
      return 0;
  }
}

export function estimateMessages(messages: readonly transcript.ViewMessage[]): number {
  let total = 0;
  for (const message of messages) total += estimateMessage(message);
  return total;
}

export function estimateTools(tools: readonly transcript.ToolSchema[]): number {
  let total = 0;
  for (const tool of tools) total += estimateText(tool.name + tool.description) + estimateText(tool.inputSchemaJson);
  return total;
}

/** Plain estimate of what stands before the messages, in tokens. */
export function estimatePrefix(prefix: { readonly system: string; readonly tools: readonly transcript.ToolSchema[] }): number {
  return (prefix.system ? estimateText(prefix.system) : 0) + estimateTools(prefix.tools);
}

/** Plain estimate of a whole view, in tokens. Walks all of it: for steps, use the sums kept beside the entries. */
export function estimateView(view: transcript.View): number {
  return estimatePrefix(view) + estimateMessages(view.messages);
}
