import type { BlockJson, EntryJson, MessageJson, PartJson, ResultJson, ViewJson } from '../client/shapes';
import { shorten } from './event-line';
import { bytes, clock, grouped } from './numbers';

const shortText = 300;

/** A transcript entry as lines. `full`: whole texts instead of their beginning. */
export function entryLines(entry: EntryJson, full: boolean): string[] {
  const head = `#${entry.seq} ${clock(entry.atMs)}`;
  if (entry.user) return [`${head} user (${entry.user.origin})`, ...entry.user.parts.map((part) => partText(part, full))];
  if (entry.assistant) {
    const { provider, model, blocks } = entry.assistant;
    return [`${head} ${provider}/${model}`, ...blocks.map((block) => blockText(block, full))];
  }
  if (entry.toolResult) return [`${head} ${resultText(entry.toolResult, full)}`];
  return [`${head} note (${entry.note?.kind ?? 'unknown'})`, `  ${textOf(entry.note?.text ?? '', full)}`];
}

export function viewLines(view: ViewJson, full: boolean): string[] {
  const lines = [`generation ${view.generation}, ${grouped(view.tokens)} tokens`];
  if (!view.view) return lines;
  lines.push(`system`, `  ${textOf(view.view.system, full)}`, `tools: ${view.view.tools.map((tool) => tool.name).join(', ')}`);
  return [...lines, ...view.view.messages.flatMap((message) => messageLines(message, full))];
}

/** One message of a view as lines. `full`: whole texts instead of their beginning. */
export function messageLines({ user, assistant, toolResults }: MessageJson, full: boolean): string[] {
  return [
    ...(user ? [`user (${user.origin})`, ...user.parts.map((part) => partText(part, full))] : []),
    ...(assistant ? ['assistant', ...assistant.blocks.map((block) => blockText(block, full))] : []),
    ...(toolResults?.results ?? []).map((result) => resultText(result, full)),
  ];
}

function partText(part: PartJson, full: boolean): string {
  return part.image ? `  [image ${part.image.mediaType}]` : `  ${textOf(part.text ?? '', full)}`;
}

function blockText(block: BlockJson, full: boolean): string {
  if (block.toolCall) return `  → ${block.toolCall.name} ${textOf(block.toolCall.argumentsJson, full)}`;
  if (block.reasoning) return `  (thinking) ${textOf(block.reasoning.text, full)}`;
  return `  ${textOf(block.text ?? '', full)}`;
}

function resultText(result: ResultJson, full: boolean): string {
  const stored = result.stored ? ` [stored ${result.stored.id}, ${bytes(result.stored.bytes)}]` : '';
  const text = result.parts.map((part) => part.text ?? '[image]').join('\n');
  return `← ${result.tool} ${result.outcome}${stored}\n  ${textOf(text, full)}`;
}

function textOf(text: string, full: boolean): string {
  if (!full) return shorten(text, shortText);
  // eslint-disable-next-line no-control-regex -- escape sequences of a model must not reach the terminal; tab and line feed may
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g, '').replaceAll('\n', '\n  ');
}
