import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { estimatePart } from '../measure/estimate';
import { shownUnder } from './meter';
import type { Meter } from './meter';
import type { Plan } from './plan';

type Kind = 'user' | 'assistant' | 'tool_result' | 'tool_call' | 'image' | 'reasoning' | 'note';
type Fate = 'kept' | 'hidden' | 'restorable' | 'dropped';

/**
 * What a pass did with everything that was visible before it, by kind. `restorable` is the part of `hidden` that has a
 * verified record: all of it, or the pass was not committed. Only reasoning is ever `dropped`.
 */
export function lossLedger(plan: Plan, after: compaction.Checkpoint): compaction.LossLedger {
  const table = new Table();
  const before = shownUnder(plan.input.checkpoint);
  const now = shownUnder(after);
  const verbatim = new Set(after.verbatimUserSeqs);
  const account = (entry: transcript.Entry): void => {
    const isVisible = entry.seq > after.hiddenThroughSeq || verbatim.has(entry.seq);
    const earlier = before.replacements.get(entry.seq);
    const replaced = now.replacements.get(entry.seq);
    eachPiece(entry, plan.meter, (kind, at, tokens, bytes) => {
      if (kind === 'reasoning') {
        if (entry.seq <= before.reasoningThrough) return;
        table.add(kind, isVisible && entry.seq > now.reasoningThrough ? 'kept' : 'dropped', tokens, bytes);
        return;
      }
      // Replaced by an earlier pass: that one has accounted for it.
      if (earlier?.has(at)) return;
      if (isVisible && !replaced?.has(at)) return table.add(kind, 'kept', tokens, bytes);
      table.add(kind, 'hidden', tokens, bytes);
      table.add(kind, 'restorable', tokens, bytes);
    });
  };
  for (const entry of plan.kept) account(entry);
  for (const unit of plan.units) for (const entry of unit.entries) account(entry);
  return create(compaction.LossLedgerSchema, { rows: table.rows() });
}

class Table {
  private readonly kinds = new Map<Kind, Map<Fate, compaction.LossRow>>();

  add(kind: Kind, fate: Fate, tokens: number, bytes: number): void {
    let fates = this.kinds.get(kind);
    if (!fates) this.kinds.set(kind, (fates = new Map()));
    let row = fates.get(fate);
    if (!row) fates.set(fate, (row = create(compaction.LossRowSchema, { kind, fate })));
    row.count++;
    row.tokens += tokens;
    row.bytes += bytes;
  }

  rows(): compaction.LossRow[] {
    const list = [...this.kinds.values()].flatMap((fates) => [...fates.values()]);
    return list.sort((a, b) => (`${a.kind}.${a.fate}` < `${b.kind}.${b.fate}` ? -1 : 1));
  }
}

/** Called for every piece of every entry of a pass: no objects in between. */
function eachPiece(
  entry: transcript.Entry,
  meter: Meter,
  visit: (kind: Kind, at: number, tokens: number, bytes: number) => void,
): void {
  const { body } = entry;
  switch (body.case) {
    case 'user':
    case 'toolResult': {
      const { parts } = body.value;
      const kind = body.case === 'user' ? 'user' : 'tool_result';
      for (let at = 0; at < parts.length; at++) {
        const part = parts[at] as transcript.Part;
        // One part: its estimate is the entry's, which need not be made again.
        const tokens = parts.length === 1 ? meter.entry(entry) : estimatePart(part);
        if (part.kind.case === 'image') visit('image', at, tokens, part.kind.value.data.length);
        else visit(kind, at, tokens, Buffer.byteLength(part.kind.value ?? ''));
      }
      return;
    }
    case 'assistant': {
      const { blocks } = body.value;
      let total = 0;
      for (const block of blocks) total += blockBytes(block);
      // Blocks share the estimate of their entry by length: good enough for a table, and nothing is counted twice.
      const share = total === 0 ? 0 : meter.entry(entry) / total;
      for (let at = 0; at < blocks.length; at++) {
        const block = blocks[at] as transcript.Block;
        const bytes = blockBytes(block);
        visit(kindOf(block), at, Math.round(bytes * share), bytes);
      }
      return;
    }
    case 'note':
      return visit('note', 0, meter.entry(entry), Buffer.byteLength(body.value.text));
    case undefined:
      return;
  }
}

function kindOf({ kind }: transcript.Block): Kind {
  if (kind.case === 'toolCall') return 'tool_call';
  return kind.case === 'reasoning' ? 'reasoning' : 'assistant';
}

function blockBytes({ kind }: transcript.Block): number {
  switch (kind.case) {
    case 'text':
      return Buffer.byteLength(kind.value);
    case 'toolCall':
      return Buffer.byteLength(kind.value.argumentsJson);
    case 'reasoning':
      return Buffer.byteLength(kind.value.text) + kind.value.signature.length + kind.value.opaqueJson.length;
    case undefined:
      return 0;
  }
}
