import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import type { Change } from '../ladder/hide';
import type { Plan } from '../ladder/plan';
import type { StoreItem } from '../ladder/ports';
import { referenceTo } from '../ladder/stored';
import { previewOf } from '../ingest/spill';
import { estimateText } from '../measure/text-estimate';
import { head } from '../text/cut';
import { replacementsBySeq } from '../view/replacements';
import { isProtected } from './micro';

/** User text is cut only above this many characters, and never below it. */
const userChars = 2_000;
/** A piece is cut to no less than this, in tokens: the notice that names its record needs about as much. */
const leastTokens = 70;

type Class = 'result' | 'protected' | 'arguments' | 'assistant' | 'user';

interface Piece {
  readonly class: Class;
  readonly entry: transcript.Entry;
  readonly at: number;
  /** The original text. */
  readonly text: string;
  /** What it costs as it is shown now. */
  readonly cost: number;
  readonly replaced: compaction.Replacement | undefined;
}

/** What is cut first: it is the easiest to get back, and the least likely to be missed. */
const order: readonly Class[] = ['result', 'protected', 'arguments', 'assistant', 'user'];

/**
 * Cuts inside the messages that stay until the view is `excess` tokens (plain estimate) smaller, or nothing is left to cut.
 * Within a class the largest pieces are cut down to a common level.
 */
export function truncateVisible(plan: Plan, from: compaction.Checkpoint, excess: number): Change {
  const pieces = visiblePieces(plan, from);
  const replacements = new Map(
    from.replacements.map((r) => [`${r.seq}.${r.part}.${r.kind === compaction.ReplacementKind.HIDDEN}`, r]),
  );
  const items: StoreItem[] = [];
  let left = excess;
  for (const name of order) {
    if (left <= 0) break;
    const ofClass = pieces.filter((piece) => piece.class === name);
    const total = ofClass.reduce((sum, piece) => sum + piece.cost, 0);
    const level = Math.max(
      leastTokens,
      commonLevel(
        ofClass.map((piece) => piece.cost),
        total - left,
      ),
    );
    for (const piece of ofClass) {
      if (piece.cost <= level) continue;
      const cut = shortened(plan, piece, level);
      const cost = cut ? estimateText(cut.replacement.text) : piece.cost;
      if (!cut || cost >= piece.cost) continue;
      if (cut.item) items.push(cut.item);
      replacements.set(`${piece.entry.seq}.${piece.at}.false`, cut.replacement);
      left -= piece.cost - cost;
    }
  }
  const checkpoint = create(compaction.CheckpointSchema, { ...from, replacements: [...replacements.values()] });
  return { checkpoint, items };
}

/** The level to which the largest costs must come down so that all together are at most `target`. */
function commonLevel(costs: readonly number[], target: number): number {
  const sorted = costs.toSorted((a, b) => a - b);
  let rest = target;
  for (const [i, cost] of sorted.entries()) {
    const share = Math.floor(rest / (sorted.length - i));
    if (cost > share) return share;
    rest -= cost;
  }
  return Number.POSITIVE_INFINITY;
}

function shortened(
  plan: Plan,
  piece: Piece,
  level: number,
): { replacement: compaction.Replacement; item?: StoreItem } | undefined {
  const result = piece.entry.body.case === 'toolResult' ? piece.entry.body.value : undefined;
  const known = piece.replaced?.stored ?? result?.stored;
  const item = known ? undefined : plan.names.item(piece.entry, piece.at);
  const stored = known ?? (item && referenceTo(item));
  if (!stored) return undefined;
  const fullCost = estimateText(piece.text);
  let maxChars = Math.max(80, Math.floor((piece.text.length / fullCost) * level * 0.95));
  if (piece.class === 'user') maxChars = Math.max(userChars, maxChars);
  if (piece.text.length <= maxChars) return undefined;
  const kind = piece.class === 'arguments' ? compaction.ReplacementKind.ARGUMENTS : compaction.ReplacementKind.TRUNCATED;
  const text =
    piece.class === 'arguments' ? cutArguments(piece.text, stored.id, maxChars) : cutText(piece.text, stored.id, maxChars);
  const replacement = create(compaction.ReplacementSchema, { seq: piece.entry.seq, part: piece.at, kind, text, stored });
  return item ? { replacement, item } : { replacement };
}

function cutText(text: string, storedId: string, maxChars: number): string {
  if (maxChars >= 400) return previewOf({ text, storedId, maxChars });
  return `[${text.length} characters stored: restore_tool_result {"id":"${storedId}"}]`;
}

/** Arguments stay a JSON object: providers parse them. */
function cutArguments(argumentsJson: string, storedId: string, maxChars: number): string {
  const beginning = head(argumentsJson, Math.max(0, maxChars - 120));
  return JSON.stringify({ cut: beginning, restore_tool_result: storedId });
}

/** Everything that is visible and may be cut, except the first message. */
function visiblePieces(plan: Plan, from: compaction.Checkpoint): Piece[] {
  const shown = replacementsBySeq(from.replacements);
  const verbatim = new Set(from.verbatimUserSeqs);
  const pieces: Piece[] = [];
  const add = (of: Class, entry: transcript.Entry, at: number, text: string): void => {
    const replaced = shown.get(entry.seq)?.get(at);
    pieces.push({ class: of, entry, at, text, cost: estimateText(replaced?.text ?? text), replaced });
  };
  const addEntry = (entry: transcript.Entry): void => {
    if (entry === plan.first) return;
    if (entry.body.case === 'assistant') {
      for (const [i, { kind }] of entry.body.value.blocks.entries()) {
        if (kind.case === 'text') add('assistant', entry, i, kind.value);
        else if (kind.case === 'toolCall') add('arguments', entry, i, kind.value.argumentsJson);
      }
    } else if (entry.body.case === 'user' || entry.body.case === 'toolResult') {
      const of = entry.body.case === 'user' ? 'user' : isProtected(entry.body.value.tool) ? 'protected' : 'result';
      for (const [i, { kind }] of entry.body.value.parts.entries()) if (kind.case === 'text') add(of, entry, i, kind.value);
    }
  };
  for (const entry of plan.kept) if (verbatim.has(entry.seq)) addEntry(entry);
  for (const unit of plan.units) {
    for (const entry of unit.entries) {
      // A repeated result is not shown.
      if (unit.kind === 'round' && entry.body.case === 'toolResult' && !unit.results.includes(entry)) continue;
      if (entry.seq > from.hiddenThroughSeq || verbatim.has(entry.seq)) addEntry(entry);
    }
  }
  return pieces;
}
