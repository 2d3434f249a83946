import { create } from '@bufbuild/protobuf';
import { NightshiftError, transcript } from '@nightshift/contracts';
import { sha256 } from '../view/hash';
import type { Unit } from '../view/pairing';
import { stopReason } from './ports';
import type { ContentStore, StoreItem } from './ports';

/** Puts and reads that run at the same time. */
const lanes = 16;
/** Faster than a TextEncoder, for small texts and large ones. */
const encode = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** Text parts up to this many characters go into the archive itself, longer ones get a record of their own. */
export const inlineChars = 400;

/** Names of records. They are derived, so that a repeated pass writes the same ones. */
export class Names {
  private readonly odd: ReadonlySet<number>;

  /** @param units of the pass: results that are not *the* result of their call (repeated, or without one) may not use its id */
  constructor(units: readonly Unit[]) {
    const results = units.flatMap((unit) => (unit.kind === 'stray' ? [unit.head] : unit.aside));
    this.odd = new Set(results.map((entry) => entry.seq));
  }

  /** A result goes by the id of its call, everything else by that of its entry. */
  id(entry: transcript.Entry, part: number): string {
    const isResult = entry.body.case === 'toolResult' && !this.odd.has(entry.seq);
    const base = isResult && entry.body.case === 'toolResult' ? entry.body.value.callId : `m-${entry.id || entry.seq}`;
    return part === 0 ? base : `${base}.${part}`;
  }

  item(entry: transcript.Entry, part: number): StoreItem | undefined {
    return partItem(this.id(entry, part), entry, part);
  }
}

function partItem(id: string, entry: transcript.Entry, part: number): StoreItem | undefined {
  if (entry.body.case === 'assistant') return blockItem(id, entry.body.value.blocks[part]);
  if (entry.body.case !== 'user' && entry.body.case !== 'toolResult') return undefined;
  const { kind } = entry.body.value.parts[part] ?? { kind: { case: undefined } };
  const from = entry.body.case === 'toolResult' ? entry.body.value : undefined;
  const origin = { tool: from?.tool ?? '', callId: from?.callId ?? '' };
  if (kind.case === 'text') return { id, content: encode(kind.value), mediaType: 'text/plain', ...origin };
  if (kind.case === 'image') return { id, content: kind.value.data, mediaType: kind.value.mediaType, ...origin };
  return undefined;
}

function blockItem(id: string, block: transcript.Block | undefined): StoreItem | undefined {
  const nowhere = { tool: '', callId: '' };
  if (block?.kind.case === 'text') return { id, content: encode(block.kind.value), mediaType: 'text/plain', ...nowhere };
  if (block?.kind.case !== 'toolCall') return undefined;
  const { name, argumentsJson, id: callId } = block.kind.value;
  return { id, content: encode(argumentsJson), mediaType: 'application/json', tool: name, callId };
}

export function textItem(id: string, text: string): StoreItem {
  return { id, content: encode(text), mediaType: 'text/plain', tool: '', callId: '' };
}

/** The reference an item will have once it is stored: everything of it is known beforehand. */
export function referenceTo(item: StoreItem): transcript.StoredReference {
  return create(transcript.StoredReferenceSchema, { id: item.id, sha256: sha256(item.content), bytes: item.content.length });
}

/**
 * Stores items and reads each one back: what cannot be read back must not be hidden.
 * @throws NightshiftError INTERNAL when a record differs, or what the store throws
 */
export async function storeAll(store: ContentStore, items: readonly StoreItem[], signal?: AbortSignal): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let item = items[next++]; item; item = items[next++]) {
      if (signal?.aborted) throw stopReason(signal);
      await store.put(item);
      const back = await store.get(item.id);
      if (!sameBytes(back, item.content)) {
        const details = { id: item.id, expected: item.content.length, got: back.length };
        throw new NightshiftError('INTERNAL', `stored record ${item.id} reads back differently`, { details });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0;
}
