import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { Base } from '../ladder/base';
import { hideThrough } from '../ladder/hide';
import type { Change, ListBudgets } from '../ladder/hide';
import { raw, rawTotal } from '../ladder/plan';
import type { Plan } from '../ladder/plan';
import type { StoreItem } from '../ladder/ports';
import { digestOf } from './digest';
import { fitSections } from './summary-sections';
import { truncateVisible } from './truncate';

/**
 * The last tier: needs no model and always ends at or below the limit, as long as the fixed parts fit. The middle becomes a
 * digest; what still does not fit is given up in the order of what is missed least.
 */
export function pruneTier(plan: Plan, base: Base, from: compaction.Checkpoint): Change {
  const pruning = new Pruning(plan, base, from);
  pruning.hideMiddle();
  if (pruning.above(plan.target)) pruning.dropFiles();
  if (pruning.above(plan.target)) pruning.shortenLists();
  if (pruning.above(plan.target)) pruning.cutSummary();
  if (pruning.above(plan.target)) pruning.cutMessages();
  if (pruning.above(plan.target)) pruning.hideAll();
  if (pruning.above(plan.target)) pruning.keepLeast();
  return pruning.change();
}

class Pruning {
  private checkpoint: compaction.Checkpoint;
  private hidden: readonly StoreItem[] = [];
  private cut: readonly StoreItem[] = [];
  private lists: ListBudgets;
  private digestBudget: number;

  constructor(
    private readonly plan: Plan,
    private readonly base: Base,
    private readonly from: compaction.Checkpoint,
  ) {
    this.checkpoint = from;
    this.lists = plan.budgets;
    // A summary made in this pass already tells what the digest would: then it only gets what is left of its share.
    const summary = from.summary ? plan.meter.text(from.summary) : 0;
    this.digestBudget = Math.max(60, raw(plan, plan.budgets.summary) - summary);
  }

  above(tokens: number): boolean {
    return this.excess(tokens) > 0;
  }

  change(): Change {
    return { checkpoint: this.checkpoint, items: [...this.hidden, ...this.cut] };
  }

  /** The middle goes; then, message by message, the older part of the tail until the view lands. */
  hideMiddle(): void {
    this.hide(this.base.through);
    const lastRound = this.plan.units.findLastIndex((unit) => unit.kind === 'round');
    let over = this.excess(this.plan.budgets.landing);
    let through = this.base.through;
    for (let i = this.base.tailAt; i < lastRound && over > 0; i++) {
      const unit = this.plan.units[i];
      if (!unit) break;
      over -=
        this.plan.meter.entry(unit.head) +
        unit.results.reduce((sum, entry) => sum + (entry ? this.plan.meter.entry(entry) : 0), 0);
      through = unit.to;
    }
    if (through > this.base.through) this.hide(through);
  }

  dropFiles(): void {
    const { reinjected } = this.checkpoint;
    let last = reinjected.findLastIndex((item) => item.kind === 'file');
    let kept = reinjected;
    while (last >= 0 && this.above(this.plan.target)) {
      kept = kept.toSpliced(last, 1);
      this.checkpoint = create(compaction.CheckpointSchema, { ...this.checkpoint, reinjected: kept });
      last = kept.findLastIndex((item) => item.kind === 'file');
    }
  }

  shortenLists(): void {
    this.lists = { users: Math.floor(this.plan.budgets.users / 3), placeholders: Math.floor(this.plan.budgets.placeholders / 3) };
    this.rehide(this.checkpoint.hiddenThroughSeq);
  }

  /** A summary made for a larger window may be larger than this one's share. */
  cutSummary(): void {
    const summary = fitSections(this.checkpoint.summary, raw(this.plan, this.plan.budgets.summary));
    this.checkpoint = create(compaction.CheckpointSchema, { ...this.checkpoint, summary });
  }

  cutMessages(): void {
    const change = truncateVisible(this.plan, this.checkpoint, this.excess(this.plan.target));
    this.checkpoint = change.checkpoint;
    this.cut = [...this.cut, ...change.items];
  }

  hideAll(): void {
    this.lists = { users: 0, placeholders: 0 };
    this.digestBudget = 60;
    this.rehide(this.plan.lastSeq);
  }

  keepLeast(): void {
    const { summary, reinjected } = this.checkpoint;
    const pinned = reinjected.filter((item) => item.kind === 'goal' || item.kind === 'plan');
    this.checkpoint = create(compaction.CheckpointSchema, { ...this.checkpoint, reinjected: pinned });
    const over = this.excess(this.plan.target);
    if (over <= 0 || summary === '') return;
    const room = Math.max(0, this.plan.meter.text(summary) - over - 40);
    this.checkpoint = create(compaction.CheckpointSchema, { ...this.checkpoint, summary: fitSections(summary, room) });
  }

  private excess(tokens: number): number {
    return rawTotal(this.plan, this.checkpoint) - raw(this.plan, tokens);
  }

  private hide(through: number): void {
    const units = this.plan.units.filter((unit) => unit.from > this.from.hiddenThroughSeq && unit.to <= through);
    const told = units.filter((unit) => unit.head !== this.plan.first);
    const digest = told.length === 0 ? this.from.digest : digestOf(told, this.from.digest, this.digestBudget, this.plan.meter);
    const { reinjected, summary } = this.checkpoint;
    const change = hideThrough(
      this.plan,
      this.from,
      Math.max(through, this.from.hiddenThroughSeq),
      { summary, digest },
      this.lists,
    );
    this.checkpoint = create(compaction.CheckpointSchema, { ...change.checkpoint, reinjected });
    this.hidden = change.items;
  }

  /** Hides again with other budgets; cuts made inside messages that stay are made again where they are still needed. */
  private rehide(through: number): void {
    this.cut = [];
    this.hide(through);
  }
}
