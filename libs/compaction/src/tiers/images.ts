import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import type { Change } from '../ladder/hide';
import type { Plan } from '../ladder/plan';
import type { StoreItem } from '../ladder/ports';
import { referenceTo } from '../ladder/stored';
import type { FitLimits } from '../measure/fit';
import { replacementsBySeq } from '../view/replacements';

/** Images stay in this many of the newest messages. */
const recentMessages = 4;

interface Found {
  readonly entry: transcript.Entry;
  readonly part: number;
  readonly image: transcript.Image;
  readonly recent: boolean;
}

/**
 * Images outside the last four messages become text that names them. Beyond the provider's limits on count, size or edge
 * the oldest recent ones go as well.
 */
export function imagesTier(plan: Plan, from: compaction.Checkpoint, limits: FitLimits = {}): Change | undefined {
  const found = findImages(plan, from);
  const strip = found.filter((item) => !item.recent || isTooLarge(item.image, limits));
  const stay = found.filter((item) => !strip.includes(item));
  while (stay.length > 0 && exceeds(stay, limits)) strip.push(stay.shift() as Found);
  if (strip.length === 0) return undefined;
  const items: StoreItem[] = [];
  const replacements = strip.flatMap(({ entry, part, image }) => {
    const item = plan.names.item(entry, part);
    if (!item) return [];
    items.push(item);
    const stored = referenceTo(item);
    const text = imagePlaceholder(image, plan.names.id(entry, part));
    return create(compaction.ReplacementSchema, { seq: entry.seq, part, kind: compaction.ReplacementKind.IMAGE, text, stored });
  });
  const checkpoint = create(compaction.CheckpointSchema, { ...from, replacements: [...from.replacements, ...replacements] });
  return { checkpoint, items };
}

export function imagePlaceholder(image: transcript.Image, id: string): string {
  const edges = image.width > 0 ? ` ${image.width}×${image.height}` : '';
  return `[image ${image.mediaType}${edges}, ${image.data.length} bytes, moved out: restore_tool_result {"id":"${id}"}]`;
}

function isTooLarge(image: transcript.Image, limits: FitLimits): boolean {
  return limits.longestEdge !== undefined && limits.longestEdge > 0 && Math.max(image.width, image.height) > limits.longestEdge;
}

function exceeds(images: readonly Found[], limits: FitLimits): boolean {
  if (limits.images !== undefined && limits.images > 0 && images.length > limits.images) return true;
  if (limits.bytes === undefined || limits.bytes <= 0) return false;
  // As base64 in the request; the text beside them is left to the token budget.
  return images.reduce((sum, { image }) => sum + Math.ceil((image.data.length * 4) / 3), 0) > limits.bytes * 0.9;
}

/** Every image that is still visible, oldest first. */
function findImages(plan: Plan, from: compaction.Checkpoint): Found[] {
  const shown = replacementsBySeq(from.replacements);
  const verbatim = new Set(from.verbatimUserSeqs);
  const found: Found[] = [];
  const add = (entry: transcript.Entry, recent: boolean): void => {
    if (entry.body.case !== 'user' && entry.body.case !== 'toolResult') return;
    for (const [part, { kind }] of entry.body.value.parts.entries()) {
      if (kind.case === 'image' && !shown.get(entry.seq)?.has(part)) found.push({ entry, part, image: kind.value, recent });
    }
  };
  for (const entry of plan.kept) if (verbatim.has(entry.seq)) add(entry, false);
  let messages = plan.units.reduce((sum, unit) => sum + messagesOf(unit.results.length), 0);
  for (const unit of plan.units) {
    const after = messages - messagesOf(unit.results.length);
    for (const entry of unit.entries) {
      if (entry.seq <= from.hiddenThroughSeq && !verbatim.has(entry.seq)) continue;
      // The results of a round are its second message.
      add(entry, entry.body.case === 'toolResult' ? after < recentMessages : messages - 1 < recentMessages);
    }
    messages = after;
  }
  return found;
}

function messagesOf(results: number): number {
  return results > 0 ? 2 : 1;
}
