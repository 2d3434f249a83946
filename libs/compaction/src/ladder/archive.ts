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
  | { readonly stored: string; readonly head: string; readonly chars: number };

/** Plans where everything of some entries goes that are about to be hidden. Reasoning is dropped, never archived. */
export function planArchive(
  entries: readonly transcript.Entry[],
  replaced: (seq: number, part: number) => compaction.Replacement | undefined,
  previous: string | undefined,
  names: Names,
): ArchivePlan {
  const archive = new Archive(replaced, names, previous);
  for (const entry of entries) archive.add(entry);
  return archive.plan();
}

const json = JSON.stringify;

class Archive {
  private readonly items: StoreItem[] = [];
  private readonly results: HiddenResult[] = [];
  private readonly documents: { fromSeq: number; throughSeq: number; item: StoreItem }[] = [];
  private text = '';
  private from: transcript.Entry | undefined;
  private last: transcript.Entry | undefined;

  constructor(
    private readonly replaced: (seq: number, part: number) => compaction.Replacement | undefined,
    private readonly names: Names,
    private before: string | undefined,
  ) {}

  add(entry: transcript.Entry): void {
    if (!this.from) {
      this.from = entry;
      // The view names only the newest archive, so that it does not grow with every pass: each one names the one before.
      if (this.before !== undefined) this.text = `${json({ earlier: this.before })}\n`;
    } else this.text += '\n';
    this.last = entry;
    this.text += this.line(entry);
    if (this.text.length > documentChars) this.close();
  }

  plan(): ArchivePlan {
    this.close();
    for (const document of this.documents) this.items.push(document.item);
    return { items: this.items, documents: this.documents, results: this.results };
  }

  private close(): void {
    if (!this.from || !this.last) return;
    const item = textItem(`a-${this.from.id.slice(-12) || this.from.seq}-${this.last.seq}`, this.text);
    this.before = item.id;
    this.documents.push({ fromSeq: this.from.seq, throughSeq: this.last.seq, item });
    this.text = '';
    this.from = undefined;
  }

  /** An `ArchiveLine` as JSON; written as text at once, since making an object of each entry first takes twice the time. */
  private line(entry: transcript.Entry): string {
    const { body, seq } = entry;
    switch (body.case) {
      case 'user':
        return `{"seq":${seq},"kind":"user","parts":[${this.parts(entry, body.value.parts)}]}`;
      case 'toolResult': {
        const { tool, callId, parts } = body.value;
        return `{"seq":${seq},"kind":"tool_result","tool":${json(tool)},"call":${json(callId)},"parts":[${this.parts(entry, parts)}]}`;
      }
      case 'assistant':
        return `{"seq":${seq},"kind":"assistant","parts":[${blocksText(body.value.blocks)}]}`;
      case 'note':
        return `{"seq":${seq},"kind":"note","parts":[{"text":${json(body.value.text)}}]}`;
      case undefined:
        return `{"seq":${seq},"kind":"empty","parts":[]}`;
    }
  }

  private parts(entry: transcript.Entry, parts: readonly transcript.Part[]): string {
    let text = '';
    for (let at = 0; at < parts.length; at++) text += (at === 0 ? '' : ',') + this.part(entry, at, parts[at] as transcript.Part);
    return text;
  }

  private part(entry: transcript.Entry, at: number, { kind }: transcript.Part): string {
    if (kind.case === undefined) return '{"text":""}';
    const stored = entry.body.case === 'toolResult' && kind.case === 'text' ? entry.body.value.stored : undefined;
    // The preview of a spilled result needs no record: the whole result has one.
    if (stored && kind.case === 'text') return this.stored(entry, at, stored.id, stored.bytes, headOf(kind.value));
    if (kind.case === 'text' && kind.value.length <= inlineChars && entry.body.case !== 'user')
      return `{"text":${json(kind.value)}}`;
    const chars = kind.case === 'text' ? kind.value.length : kind.value.data.length;
    const head = kind.case === 'text' ? headOf(kind.value) : '(image)';
    // Replaced earlier: its record was written and read back then.
    const known = this.replaced(entry.seq, at)?.stored;
    if (known) return this.stored(entry, at, known.id, chars, head);
    const item = this.names.item(entry, at);
    if (item) this.items.push(item);
    return this.stored(entry, at, this.names.id(entry, at), chars, head);
  }

  private stored(entry: transcript.Entry, at: number, storedId: string, chars: number, head: string): string {
    if (entry.body.case === 'toolResult') {
      this.results.push({ seq: entry.seq, part: at, storedId, tool: entry.body.value.tool, chars, head });
    }
    return `{"stored":${json(storedId)},"head":${json(head)},"chars":${chars}}`;
  }
}

function blocksText(blocks: readonly transcript.Block[]): string {
  let text = '';
  for (let at = 0; at < blocks.length; at++) {
    const { kind } = blocks[at] as transcript.Block;
    if (at > 0) text += ',';
    if (kind.case === 'text') text += `{"text":${json(kind.value)}}`;
    else if (kind.case === 'toolCall') {
      const { id, name, argumentsJson } = kind.value;
      text += `{"call":${json(id)},"name":${json(name)},"arguments":${json(argumentsJson)}}`;
    } else text += '{"dropped":"reasoning"}';
  }
  return text;
}

function headOf(text: string): string {
  return headLines(text, 1, 100)[0] ?? '';
}
