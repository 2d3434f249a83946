import type { compaction, transcript } from '@nightshift/contracts';
import { headLines } from '../text/cut';
import { inlineChars, textItem } from './stored';
import type { Names } from './stored';
import type { StoreItem } from './ports';

/** An archive document is closed once it is this long, in characters: far below any payload limit, fast to search. */
const documentChars = 1_000_000;

export interface ArchivePlan {
  /** Records of their own, then the documents. */
  readonly items: readonly StoreItem[];
  readonly documents: readonly { readonly fromSeq: number; readonly throughSeq: number; readonly item: StoreItem }[];
  /** Every result with a record: what the list of restorable results shows. */
  readonly results: readonly HiddenResult[];
}

export interface HiddenResult {
  readonly seq: number;
  readonly part: number;
  readonly storedId: string;
  readonly tool: string;
  readonly chars: number;
  readonly head: string;
}

/** One line of an archive document: all content of one entry, or where the parts with a record of their own are. */
export interface ArchiveLine {
  readonly seq: number;
  readonly kind: string;
  readonly tool?: string;
  readonly call?: string;
  readonly parts: readonly ArchivePart[];
}

export type ArchivePart =
  | { readonly text: string }
  | { readonly call: string; readonly name: string; readonly arguments: string }
  | { readonly dropped: 'reasoning' }
  | { readonly stored: string; readonly head?: string; readonly chars?: number };

/** Plans where everything of some entries goes that are about to be hidden. Reasoning is dropped, never archived. */
export function planArchive(
  entries: readonly transcript.Entry[],
  replaced: (seq: number, part: number) => compaction.Replacement | undefined,
  previous: string | undefined,
  names: Names,
): ArchivePlan {
  const items: StoreItem[] = [];
  const results: HiddenResult[] = [];
  const documents: { fromSeq: number; throughSeq: number; item: StoreItem }[] = [];
  let lines: string[] = [];
  let chars = 0;
  let from: transcript.Entry | undefined;
  let last: transcript.Entry | undefined;
  let before = previous;
  const close = (): void => {
    if (!from || !last) return;
    const item = textItem(`a-${from.id.slice(-12) || from.seq}-${last.seq}`, lines.join('\n'));
    before = item.id;
    documents.push({ fromSeq: from.seq, throughSeq: last.seq, item });
    lines = [];
    chars = 0;
    from = undefined;
  };
  for (const entry of entries) {
    const line = JSON.stringify(lineOf(entry, items, results, replaced, names));
    // The view names only the newest archive, so that it does not grow with every pass: each one names the one before.
    if (!from && before !== undefined) lines.push(JSON.stringify({ earlier: before }));
    from ??= entry;
    last = entry;
    lines.push(line);
    chars += line.length;
    if (chars > documentChars) close();
  }
  close();
  for (const document of documents) items.push(document.item);
  return { items, documents, results };
}

function lineOf(
  entry: transcript.Entry,
  items: StoreItem[],
  results: HiddenResult[],
  replaced: (seq: number, part: number) => compaction.Replacement | undefined,
  names: Names,
): ArchiveLine {
  const parts: ArchivePart[] = [];
  const { body } = entry;
  switch (body.case) {
    case 'user':
      for (const [i, part] of body.value.parts.entries())
        parts.push(partOf(entry, i, part, items, replaced(entry.seq, i), names));
      return { seq: entry.seq, kind: 'user', parts };
    case 'toolResult': {
      const { tool, callId, stored } = body.value;
      for (const [i, part] of body.value.parts.entries()) {
        // The preview of a spilled result needs no record: the whole result has one.
        const archived =
          stored && part.kind.case === 'text'
            ? { stored: stored.id, head: headOf(part.kind.value), chars: stored.bytes }
            : partOf(entry, i, part, items, replaced(entry.seq, i), names);
        parts.push(archived);
        if ('stored' in archived) {
          const known = { seq: entry.seq, part: i, storedId: archived.stored, tool };
          results.push({ ...known, chars: archived.chars ?? 0, head: archived.head ?? '' });
        }
      }
      return { seq: entry.seq, kind: 'tool_result', tool, call: callId, parts };
    }
    case 'assistant':
      for (const block of body.value.blocks) {
        if (block.kind.case === 'text') parts.push({ text: block.kind.value });
        else if (block.kind.case === 'toolCall') {
          const { id, name, argumentsJson } = block.kind.value;
          parts.push({ call: id, name, arguments: argumentsJson });
        } else parts.push({ dropped: 'reasoning' });
      }
      return { seq: entry.seq, kind: 'assistant', parts };
    case 'note':
      return { seq: entry.seq, kind: 'note', parts: [{ text: body.value.text }] };
    case undefined:
      return { seq: entry.seq, kind: 'empty', parts };
  }
}

function partOf(
  entry: transcript.Entry,
  at: number,
  part: transcript.Part,
  items: StoreItem[],
  replacement: compaction.Replacement | undefined,
  names: Names,
): ArchivePart {
  const { kind } = part;
  if (kind.case === undefined) return { text: '' };
  if (kind.case === 'text' && kind.value.length <= inlineChars && entry.body.case !== 'user') return { text: kind.value };
  const known = kind.case === 'text' ? { head: headOf(kind.value), chars: kind.value.length } : { head: '(image)', chars: 0 };
  // Replaced earlier: its record was written and read back then.
  if (replacement?.stored) return { stored: replacement.stored.id, ...known };
  const item = names.item(entry, at);
  if (item) items.push(item);
  return { stored: names.id(entry, at), ...known };
}

function headOf(text: string): string {
  return headLines(text, 1, 100)[0] ?? '';
}
