import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import type { Change } from '../ladder/hide';
import type { Base } from '../ladder/base';
import { raw } from '../ladder/plan';
import type { Plan } from '../ladder/plan';
import type { StoreItem } from '../ladder/ports';
import { referenceTo } from '../ladder/stored';
import { estimateText } from '../measure/text-estimate';
import { headLines } from '../text/cut';
import { replacementsBySeq } from '../view/replacements';

/** Results of these are what the task steers by; a placeholder would cost more turns than it saves. */
const protectedTools = new Set([
  'goal',
  'plan',
  'ask_user',
  'finish',
  'memory',
  'restore_tool_result',
  'spawn_agent',
  'tell_agent',
]);

export function isProtected(tool: string): boolean {
  return protectedTools.has(tool);
}

/** A replacement must save at least this many tokens, and half of what it replaces. */
const leastSaving = 200;

/** Old tool results become placeholders that name what was there and how to get it back. Outside the tail only. */
export function microTier(plan: Plan, base: Base, from: compaction.Checkpoint): Change | undefined {
  const shown = replacementsBySeq(from.replacements);
  const replacements: compaction.Replacement[] = [];
  const items: StoreItem[] = [];
  let left = raw(plan, plan.budgets.placeholders);
  // Newest first: they are the likeliest to be asked for again, so they get the head lines while the budget lasts.
  for (const unit of plan.units.slice(0, base.tailAt).toReversed()) {
    if (unit.to <= from.hiddenThroughSeq) break;
    for (const entry of unit.results.toReversed()) {
      if (!entry || entry.body.case !== 'toolResult' || isProtected(entry.body.value.tool)) continue;
      for (const [at, part] of entry.body.value.parts.entries()) {
        if (part.kind.case !== 'text' || shown.get(entry.seq)?.has(at)) continue;
        const size = entry.body.value.parts.length === 1 ? plan.meter.entry(entry) : estimateText(part.kind.value);
        if (size < leastSaving) continue;
        const placed = placeholder(entry.seq, entry.body.value, at, part.kind.value, size, left > 0, plan.names.id(entry, at));
        const cost = plan.meter.replacement(placed);
        if (cost * 2 > size || size - cost < leastSaving) continue;
        left -= cost;
        if (!placed.stored) {
          const item = plan.names.item(entry, at);
          if (!item) continue;
          items.push(item);
          placed.stored = referenceTo(item);
        }
        replacements.push(placed);
      }
    }
  }
  if (replacements.length === 0) return undefined;
  const checkpoint = create(compaction.CheckpointSchema, { ...from, replacements: [...from.replacements, ...replacements] });
  return { checkpoint, items };
}

function placeholder(
  seq: number,
  result: transcript.ToolResult,
  part: number,
  text: string,
  tokens: number,
  withHead: boolean,
  ownId: string,
): compaction.Replacement {
  const id = result.stored?.id ?? ownId;
  const size = result.stored ? `${result.stored.bytes} bytes` : `${text.length} characters, about ${tokens} tokens`;
  const lines = [`[${result.tool} result of call ${result.callId}, ${size}, moved out: restore_tool_result {"id":"${id}"}]`];
  if (withHead) lines.push(...headLines(text, 2, 120));
  return create(compaction.ReplacementSchema, {
    seq,
    part,
    kind: compaction.ReplacementKind.MICRO,
    text: lines.join('\n'),
    stored: result.stored,
  });
}
