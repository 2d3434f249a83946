import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { planSpill, previewCharsFor, previewOf, spillChars } from '../ingest/spill';
import { abortedCalls } from '../view/pairing';
import type { Unit } from '../view/pairing';
import { shownUnder } from './meter';
import { raw } from './plan';
import type { Plan } from './plan';
import type { StoreItem } from './ports';
import { chooseFiles } from './reinjected';
import { referenceTo } from './stored';
import type { Change } from './hide';

export interface Base extends Change {
  /** Index of the first unit of the kept tail. */
  readonly tailAt: number;
  /** Entries up to here may be hidden. */
  readonly through: number;
  /** Something lies before the tail that is not visible anyway. */
  readonly hideable: boolean;
}

/**
 * What every pass does, whichever tier lands: reasoning signed against the old prefix is dropped, the block is taken anew
 * from its sources, and sizes that should have been limited at ingestion are limited now (imports, a smaller window).
 */
export function baseOf(plan: Plan): Base {
  const { input } = plan;
  const before = input.checkpoint ?? create(compaction.CheckpointSchema);
  const items: StoreItem[] = [];
  const replacements = [...before.replacements];
  if (plan.first && plan.firstPreviewChars) shorten(plan, plan.first, plan.firstPreviewChars, replacements, items);
  const tailAt = tailStart(plan);
  limitBatches(plan, tailAt, replacements, items);
  const through = plan.units[tailAt - 1]?.to ?? plan.boundary;
  const checkpoint = create(compaction.CheckpointSchema, {
    ...before,
    generation: input.generation + 1,
    replacements,
    reinjected: [
      ...input.goalAndPlan,
      ...chooseFiles(input.editedFiles ?? [], raw(plan, plan.budgets.files), plan.meter),
      ...(input.handles ?? []),
    ],
    blockAfterSeq: through,
    reasoningDroppedThroughSeq: plan.lastSeq,
    abortedCallIds: [...before.abortedCallIds, ...newlyAborted(plan)],
    throughSeq: plan.lastSeq,
    atMs: BigInt(input.nowMs),
    viewSha256: '',
    tokens: undefined,
    viewEstimate: 0,
  });
  const hideable = plan.units.slice(0, tailAt).some((unit) => unit.head !== plan.first);
  return { checkpoint, items, tailAt, through, hideable };
}

function newlyAborted(plan: Plan): string[] {
  const known = new Set(plan.input.checkpoint?.abortedCallIds);
  return abortedCalls(plan.units).filter((id) => !known.has(id));
}

/** The kept tail: as many whole units as its budget holds, and at least the last round with what follows it. */
function tailStart(plan: Plan): number {
  const { units, meter } = plan;
  const shown = { ...shownUnder(plan.input.checkpoint), reasoningThrough: plan.lastSeq };
  let left = raw(plan, plan.budgets.tail);
  let start = units.length;
  while (start > 0) {
    const unit = units[start - 1] as Unit;
    left -= meter.unit(unit, shown);
    if (left < 0) break;
    start--;
  }
  const lastRound = units.findLastIndex((unit) => unit.kind === 'round');
  const least = lastRound < 0 ? units.length - 1 : lastRound;
  return Math.max(0, Math.min(start, least));
}

/** The ingestion limits, once more: results of a batch in the tail beyond its share become previews. */
function limitBatches(plan: Plan, tailAt: number, replacements: compaction.Replacement[], items: StoreItem[]): void {
  const shown = shownUnder(plan.input.checkpoint);
  const batch = raw(plan, plan.budgets.batch);
  for (const unit of plan.units.slice(tailAt)) {
    const results = unit.results.filter((entry) => entry !== undefined);
    const sizes = results.map((entry) => ({
      id: String(entry.seq),
      chars: shown.replacements.has(entry.seq) ? 0 : longestText(entry),
      tokens: plan.meter.shown(entry, shown),
    }));
    const spilled = new Set(planSpill(sizes, batch, spillChars));
    const chars = previewCharsFor(spilled.size, batch);
    for (const entry of results) {
      if (spilled.has(String(entry.seq)) && !shown.replacements.has(entry.seq)) shorten(plan, entry, chars, replacements, items);
    }
  }
}

function longestText(entry: transcript.Entry): number {
  if (entry.body.case !== 'toolResult') return 0;
  return Math.max(0, ...entry.body.value.parts.map((part) => (part.kind.case === 'text' ? part.kind.value.length : 0)));
}

/** Replaces each long text part of an entry by a preview. */
function shorten(
  plan: Plan,
  entry: transcript.Entry,
  maxChars: number,
  replacements: compaction.Replacement[],
  items: StoreItem[],
): void {
  if (entry.body.case !== 'user' && entry.body.case !== 'toolResult') return;
  const known = entry.body.case === 'toolResult' ? entry.body.value.stored : undefined;
  for (const [at, part] of entry.body.value.parts.entries()) {
    if (part.kind.case !== 'text' || part.kind.value.length <= maxChars) continue;
    if (replacements.some((r) => r.seq === entry.seq && r.part === at)) continue;
    const item = known ? undefined : plan.names.item(entry, at);
    if (item) items.push(item);
    const storedId = known?.id ?? plan.names.id(entry, at);
    replacements.push(
      create(compaction.ReplacementSchema, {
        seq: entry.seq,
        part: at,
        kind: compaction.ReplacementKind.TRUNCATED,
        text: previewOf({ text: part.kind.value, storedId, maxChars }),
        stored: known ?? (item && referenceTo(item)),
      }),
    );
  }
}
