import type { compaction, transcript } from '@nightshift/contracts';
import { estimateBlock, estimateEntry, estimatePart } from '../measure/estimate';
import { estimateText } from '../measure/text-estimate';
import { blockParts, summaryParts } from '../view/checkpoint-message';
import { callsOf } from '../view/pairing';
import type { Unit } from '../view/pairing';
import { replacementsBySeq } from '../view/replacements';
import type { Replacements } from '../view/replacements';

/** The one counter of a pass: plain estimates of what a checkpoint lets be seen, equal to those of the rendered view. */
export class Meter {
  /** Totals of checkpoints already counted; a checkpoint never changes once it is made. */
  readonly totals = new WeakMap<compaction.Checkpoint, number>();
  private readonly entryCosts = new Map<number, number>();
  private readonly reasoningCosts = new Map<number, number>();
  private readonly replacementCosts = new WeakMap<compaction.Replacement, number>();
  private readonly originalCosts = new Map<string, number>();
  private readonly textCosts = new Map<string, number>();
  private readonly abortedCost = estimateText('aborted: this call has no result');

  constructor(private readonly estimates: ReadonlyMap<number, number> = new Map()) {}

  text(value: string): number {
    const known = this.textCosts.get(value);
    if (known !== undefined) return known;
    const cost = estimateText(value);
    this.textCosts.set(value, cost);
    return cost;
  }

  entry(entry: transcript.Entry): number {
    const known = this.estimates.get(entry.seq) ?? this.entryCosts.get(entry.seq);
    if (known !== undefined) return known;
    const cost = estimateEntry(entry);
    this.entryCosts.set(entry.seq, cost);
    return cost;
  }

  /** What one unit costs under a checkpoint. */
  unit(unit: Unit, under: Shown): number {
    switch (unit.kind) {
      case 'user':
      case 'note':
        return this.shown(unit.head, under);
      case 'stray':
        return this.shown(unit.head, under) + this.strayLabel(unit.head);
      case 'round': {
        let total = this.shown(unit.head, under);
        for (const [i, result] of unit.results.entries()) {
          total += result && !isAborted(unit, i, under) ? this.shown(result, under) : this.abortedCost;
        }
        for (const entry of unit.aside) if (entry.body.case !== 'toolResult') total += this.shown(entry, under);
        return total;
      }
    }
  }

  /** What one entry costs as it is shown: replaced parts as their replacement, dropped reasoning as nothing. */
  shown(entry: transcript.Entry, under: Shown): number {
    const replaced = under.replacements.get(entry.seq);
    let cost = this.entry(entry);
    if (entry.body.case === 'assistant' && entry.seq <= under.reasoningThrough) cost -= this.reasoning(entry);
    if (!replaced) return cost;
    for (const [at, replacement] of replaced) cost += this.replacement(replacement) - this.original(entry, at);
    return cost;
  }

  /** What a replaced part or block would cost; the only part of an entry costs what the entry does. */
  private original(entry: transcript.Entry, at: number): number {
    const { body } = entry;
    if ((body.case === 'user' || body.case === 'toolResult') && body.value.parts.length === 1) return this.entry(entry);
    const key = `${entry.seq}.${at}`;
    const known = this.originalCosts.get(key);
    if (known !== undefined) return known;
    const cost = originalCost(entry, at);
    this.originalCosts.set(key, cost);
    return cost;
  }

  replacement(replacement: compaction.Replacement): number {
    const known = this.replacementCosts.get(replacement);
    if (known !== undefined) return known;
    const cost = estimateText(replacement.text);
    this.replacementCosts.set(replacement, cost);
    return cost;
  }

  /** Everything a checkpoint puts in front of or between the entries. */
  checkpoint(checkpoint: compaction.Checkpoint | undefined): number {
    if (!checkpoint) return 0;
    let total = 0;
    for (const part of summaryParts(checkpoint)) total += this.text(part);
    for (const part of blockParts(checkpoint)) total += this.text(part);
    return total;
  }

  private reasoning(entry: transcript.Entry): number {
    if (entry.body.case !== 'assistant' || !entry.body.value.blocks.some((block) => block.kind.case === 'reasoning')) return 0;
    const known = this.reasoningCosts.get(entry.seq);
    if (known !== undefined) return known;
    let cost = 0;
    for (const block of entry.body.value.blocks) if (block.kind.case === 'reasoning') cost += estimateBlock(block);
    this.reasoningCosts.set(entry.seq, cost);
    return cost;
  }

  private strayLabel(entry: transcript.Entry): number {
    return entry.body.case === 'toolResult' ? this.text(`[result of ${entry.body.value.tool || 'a tool'} without its call]`) : 0;
  }
}

function isAborted(unit: Unit, at: number, under: Shown): boolean {
  if (under.aborted.size === 0) return false;
  const call = callsOf(unit)[at];
  return call !== undefined && under.aborted.has(call.id);
}

/** The parts of a checkpoint that decide how entries are shown, indexed. */
export interface Shown {
  readonly replacements: Replacements;
  readonly reasoningThrough: number;
  readonly aborted: ReadonlySet<string>;
}

export function shownUnder(checkpoint: compaction.Checkpoint | undefined): Shown {
  return {
    replacements: replacementsBySeq(checkpoint?.replacements ?? []),
    reasoningThrough: checkpoint?.reasoningDroppedThroughSeq ?? 0,
    aborted: new Set(checkpoint?.abortedCallIds),
  };
}

/** Cost of the part or block that a replacement stands for. */
function originalCost(entry: transcript.Entry, at: number): number {
  if (entry.body.case === 'assistant') {
    const block = entry.body.value.blocks[at];
    if (!block) return 0;
    // Only the arguments of a call are replaced, not its name.
    if (block.kind.case === 'toolCall') return estimateText(block.kind.value.argumentsJson);
    return estimateBlock(block);
  }
  if (entry.body.case !== 'user' && entry.body.case !== 'toolResult') return 0;
  const part = entry.body.value.parts[at];
  return part ? estimatePart(part) : 0;
}
