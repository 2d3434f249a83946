import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { estimateBlock, estimatePart } from '../measure/estimate';
import { shownUnder } from './meter';
import type { Plan } from './plan';

type Fate = 'kept' | 'hidden' | 'restorable' | 'dropped';

/**
 * What a pass did with everything that was visible before it, by kind. `restorable` is the part of `hidden` that has a
 * verified record: all of it, or the pass was not committed. Only reasoning is ever `dropped`.
 */
export function lossLedger(plan: Plan, after: compaction.Checkpoint): compaction.LossLedger {
  const rows = new Map<string, compaction.LossRow>();
  const add = (kind: string, fate: Fate, tokens: number, bytes: number): void => {
    const key = `${kind}.${fate}`;
    const row = rows.get(key) ?? create(compaction.LossRowSchema, { kind, fate });
    row.count++;
    row.tokens += tokens;
    row.bytes += bytes;
    rows.set(key, row);
  };
  const before = shownUnder(plan.input.checkpoint);
  const now = shownUnder(after);
  const verbatim = new Set(after.verbatimUserSeqs);
  const account = (entry: transcript.Entry): void => {
    const visible = entry.seq > after.hiddenThroughSeq || verbatim.has(entry.seq);
    for (const piece of piecesOf(entry)) {
      if (piece.kind === 'reasoning') {
        if (entry.seq <= before.reasoningThrough) continue;
        add(piece.kind, visible && entry.seq > now.reasoningThrough ? 'kept' : 'dropped', piece.tokens, piece.bytes);
        continue;
      }
      // Replaced by an earlier pass: that one has accounted for it.
      if (before.replacements.get(entry.seq)?.has(piece.at)) continue;
      if (visible && !now.replacements.get(entry.seq)?.has(piece.at)) add(piece.kind, 'kept', piece.tokens, piece.bytes);
      else {
        add(piece.kind, 'hidden', piece.tokens, piece.bytes);
        add(piece.kind, 'restorable', piece.tokens, piece.bytes);
      }
    }
  };
  for (const entry of plan.kept) account(entry);
  for (const unit of plan.units) for (const entry of unit.entries) account(entry);
  const list = [...rows.values()].sort((a, b) => (`${a.kind}.${a.fate}` < `${b.kind}.${b.fate}` ? -1 : 1));
  return create(compaction.LossLedgerSchema, { rows: list });
}

interface Piece {
  readonly kind: string;
  readonly at: number;
  readonly tokens: number;
  readonly bytes: number;
}

function piecesOf(entry: transcript.Entry): Piece[] {
  const { body } = entry;
  switch (body.case) {
    case 'user':
    case 'toolResult': {
      const kind = body.case === 'user' ? 'user' : 'tool_result';
      return body.value.parts.map((part, at) => ({
        kind: part.kind.case === 'image' ? 'image' : kind,
        at,
        tokens: estimatePart(part),
        bytes: part.kind.case === 'image' ? part.kind.value.data.length : Buffer.byteLength(part.kind.value ?? ''),
      }));
    }
    case 'assistant':
      return body.value.blocks.map((block, at) => blockPiece(block, at));
    case 'note':
      return [{ kind: 'note', at: 0, tokens: 0, bytes: Buffer.byteLength(body.value.text) }];
    case undefined:
      return [];
  }
}

function blockPiece(block: transcript.Block, at: number): Piece {
  const tokens = estimateBlock(block);
  switch (block.kind.case) {
    case 'text':
      return { kind: 'assistant', at, tokens, bytes: Buffer.byteLength(block.kind.value) };
    case 'toolCall':
      return { kind: 'tool_call', at, tokens, bytes: Buffer.byteLength(block.kind.value.argumentsJson) };
    case 'reasoning': {
      const { text, signature, opaqueJson } = block.kind.value;
      return { kind: 'reasoning', at, tokens, bytes: Buffer.byteLength(text) + signature.length + opaqueJson.length };
    }
    case undefined:
      return { kind: 'assistant', at, tokens: 0, bytes: 0 };
  }
}
