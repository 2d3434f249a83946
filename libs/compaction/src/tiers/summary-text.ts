import type { transcript } from '@nightshift/contracts';
import { cutPosition, head, tail } from '../text/cut';

/** Lines that a view becomes when it is handed to a model as data. Images are named, reasoning is left out. */
export function messageText(message: transcript.ViewMessage): string {
  const { body } = message;
  switch (body.case) {
    case 'user':
      return `[user]\n${partsText(body.value.parts)}`;
    case 'assistant':
      return `[assistant]\n${body.value.blocks.map(blockText).filter(Boolean).join('\n')}`;
    case 'toolResults':
      return body.value.results.map((result) => `[result of ${result.tool}]\n${partsText(result.parts)}`).join('\n');
    case undefined:
      return '';
  }
}

function partsText(parts: readonly transcript.Part[]): string {
  return parts.map(({ kind }) => (kind.case === 'text' ? kind.value : kind.case === 'image' ? '[image]' : '')).join('\n');
}

function blockText({ kind }: transcript.Block): string {
  if (kind.case === 'text') return kind.value;
  return kind.case === 'toolCall' ? `[call ${kind.value.name}] ${kind.value.argumentsJson}` : '';
}

/** Texts cut into pieces of at most `maxChars`, in order, nothing left out. */
export function chunksOf(texts: readonly string[], maxChars: number): string[] {
  const chunks: string[] = [];
  let current = '';
  const close = (): void => {
    if (current !== '') chunks.push(current);
    current = '';
  };
  for (const text of texts) {
    if (current.length + text.length + 1 > maxChars) close();
    if (text.length <= maxChars) {
      current = current === '' ? text : `${current}\n${text}`;
      continue;
    }
    for (let at = 0; at < text.length; ) {
      const end = Math.max(at + 1, at + cutPosition(text.slice(at, at + maxChars + 64), maxChars));
      chunks.push(text.slice(at, end));
      at = end;
    }
  }
  close();
  return chunks;
}

/** Long messages shortened in the middle: what a second attempt reads, so that it is smaller than the first. */
export function shortenedTexts(texts: readonly string[], longest: number): string[] {
  return texts.map((text) => {
    if (text.length <= longest) return text;
    const end = tail(text, Math.floor(longest / 3));
    const start = head(text, longest - end.length);
    return `${start}\n[… ${text.length - start.length - end.length} characters left out …]\n${end}`;
  });
}
