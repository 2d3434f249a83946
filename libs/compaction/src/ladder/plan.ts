import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { estimatePart, estimatePrefix, estimateTools, inflate } from '../measure/estimate';
import { hardLimitOf, thresholdFor } from '../policy/threshold';
import type { FixedParts, Threshold } from '../policy/threshold';
import { defaultPolicy } from '../policy/policy';
import type { CompactionPolicy } from '../policy/policy';
import { budgetsFor } from '../policy/room';
import type { Budgets } from '../policy/room';
import { firstMessagePreviewChars, previewOf, spillsFirstMessage } from '../ingest/spill';
import { estimateText } from '../measure/text-estimate';
import { reinjectedPart } from '../view/checkpoint-message';
import { unitsOf } from '../view/pairing';
import type { Unit } from '../view/pairing';
import type { LadderInput } from './input';
import { Meter, shownUnder } from './meter';
import { Names } from './stored';

/** Everything a pass knows before its first tier. Token figures that end in `Raw` are plain estimates, the others counted. */
export interface Plan {
  readonly input: LadderInput;
  readonly policy: CompactionPolicy;
  readonly threshold: Threshold;
  /** Counted tokens to a plain estimate: makes `before` the measured figure, and `after` comparable with it. */
  readonly scale: number;
  readonly before: number;
  readonly budgets: Budgets;
  readonly meter: Meter;
  readonly names: Names;
  readonly prefixRaw: number;
  /** The whole view before the pass, plain estimate. */
  readonly beforeRaw: number;
  /** Visible entries before the boundary: user messages kept verbatim. */
  readonly kept: readonly transcript.Entry[];
  /** Units after the boundary. */
  readonly units: readonly Unit[];
  readonly first: transcript.Entry | undefined;
  /** Longest preview of the first message, in characters, where it takes more than a quarter of H. */
  readonly firstPreviewChars: number | undefined;
  readonly boundary: number;
  readonly lastSeq: number;
  /** T′, or less on a pass that somebody asked for below it. */
  readonly target: number;
}

/** Reads the input once: units, sizes, threshold, budgets. */
export function planPass(input: LadderInput): Plan {
  const policy = input.policy ?? defaultPolicy;
  const boundary = input.checkpoint?.hiddenThroughSeq ?? 0;
  const kept = input.entries.filter((entry) => entry.seq <= boundary && input.checkpoint?.verbatimUserSeqs.includes(entry.seq));
  const units = unitsOf(input.entries.filter((entry) => entry.seq > boundary));
  const meter = new Meter(input.estimates);
  const first = kept[0] ?? units.find((unit) => unit.kind === 'user')?.head;

  const systemRaw = estimatePrefix({ system: input.system, tools: [] });
  const toolsRaw = estimateTools(input.tools);
  const prefixRaw = systemRaw + toolsRaw;
  const beforeRaw = rawTotal({ prefixRaw, meter, kept, units }, input.checkpoint);
  const before = input.measured > 0 ? input.measured : inflate(beforeRaw);
  // A report far from the estimate is still the report; a scale below the plain estimate would only invite an overflow.
  const scale = Math.min(4, Math.max(0.8, before / Math.max(1, beforeRaw)));

  const hardLimit = hardLimitOf(input.window > 0 ? input.window : 32_000, input.inputMax);
  const firstPreviewChars = first && previewCharsOf(first, Math.ceil(meter.entry(first) * scale), hardLimit);
  const threshold = thresholdFor({
    window: input.window,
    inputMax: input.inputMax,
    maxOutput: input.maxOutput,
    policy,
    fixed: fixedParts({ input, meter, scale, first, firstPreviewChars, systemRaw, toolsRaw }),
  });
  const asked = isAsked(input.reason);
  const target = asked ? Math.min(threshold.effective, Math.max(before, threshold.parts.fixed + 1_000)) : threshold.effective;
  return {
    input,
    policy,
    threshold,
    scale,
    before,
    budgets: budgetsFor(threshold, target, policy.minRetained),
    meter,
    names: new Names(units),
    prefixRaw,
    beforeRaw,
    kept,
    units,
    first,
    firstPreviewChars,
    boundary,
    lastSeq: input.entries.at(-1)?.seq ?? 0,
    target,
  };
}

/** A pass that was asked for or forced runs even below the threshold, and then has to shrink what is there. */
export function isAsked(reason: compaction.PassReason): boolean {
  switch (reason) {
    case compaction.PassReason.MANUAL:
    case compaction.PassReason.OVERFLOW:
    case compaction.PassReason.SILENT_TRUNCATION:
    case compaction.PassReason.OUTPUT_ROOM:
      return true;
    case compaction.PassReason.THRESHOLD:
    case compaction.PassReason.MODEL_SWITCH:
    case compaction.PassReason.UNSPECIFIED:
      return false;
  }
}

function fixedParts(
  of: Pick<Plan, 'input' | 'meter' | 'scale' | 'first' | 'firstPreviewChars'> & { systemRaw: number; toolsRaw: number },
): FixedParts {
  const counted = (tokens: number): number => Math.ceil(tokens * of.scale);
  let goalAndPlan = 0;
  for (const item of of.input.goalAndPlan) goalAndPlan += of.meter.text(reinjectedPart(item));
  return {
    system: counted(of.systemRaw),
    tools: counted(of.toolsRaw),
    firstMessage: counted(firstRaw(of)),
    goalAndPlan: counted(goalAndPlan),
  };
}

function firstRaw({ first, firstPreviewChars, meter }: Pick<Plan, 'first' | 'firstPreviewChars' | 'meter'>): number {
  if (!first) return 0;
  if (firstPreviewChars === undefined || first.body.case !== 'user') return meter.entry(first);
  let total = 0;
  for (const part of first.body.value.parts) {
    // The same preview that will stand in the view, only with a stand-in for its record's name.
    total +=
      part.kind.case === 'text' && part.kind.value.length > firstPreviewChars
        ? estimateText(previewOf({ text: part.kind.value, storedId: first.id, maxChars: firstPreviewChars })) + 4
        : estimatePart(part);
  }
  return total;
}

/** Undefined = the first message stays whole. A dense text gets a shorter preview: it has to fit a quarter of H as well. */
function previewCharsOf(first: transcript.Entry, tokens: number, hardLimit: number): number | undefined {
  if (!spillsFirstMessage(tokens, hardLimit) || first.body.case !== 'user') return undefined;
  let chars = 0;
  for (const { kind } of first.body.value.parts) if (kind.case === 'text') chars += kind.value.length;
  const fitting = Math.floor((chars / tokens) * (hardLimit / 4) * 0.9);
  return Math.max(400, Math.min(firstMessagePreviewChars, fitting));
}

/** Plain estimate of the view under a checkpoint, prefix included. */
export function rawTotal(
  plan: Pick<Plan, 'prefixRaw' | 'meter' | 'kept' | 'units'>,
  checkpoint: compaction.Checkpoint | undefined,
): number {
  const known = checkpoint && plan.meter.totals.get(checkpoint);
  if (known !== undefined) return known;
  const shown = shownUnder(checkpoint);
  const boundary = checkpoint?.hiddenThroughSeq ?? 0;
  const verbatim = new Set(checkpoint?.verbatimUserSeqs);
  let total = plan.prefixRaw + plan.meter.checkpoint(checkpoint);
  for (const entry of plan.kept) if (verbatim.has(entry.seq)) total += plan.meter.shown(entry, shown);
  for (const unit of plan.units) {
    if (unit.from > boundary) total += plan.meter.unit(unit, shown);
    else for (const entry of unit.entries) if (verbatim.has(entry.seq)) total += plan.meter.shown(entry, shown);
  }
  if (checkpoint) plan.meter.totals.set(checkpoint, total);
  return total;
}

/** The same, in counted tokens. */
export function countedTotal(plan: Plan, checkpoint: compaction.Checkpoint): number {
  return Math.ceil(rawTotal(plan, checkpoint) * plan.scale);
}

/** A budget in counted tokens as a plain estimate. */
export function raw(plan: Pick<Plan, 'scale'>, tokens: number): number {
  return Math.floor(tokens / plan.scale);
}
