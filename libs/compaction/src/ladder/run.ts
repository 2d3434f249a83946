import { create } from '@bufbuild/protobuf';
import { compaction, NightshiftError } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { fitVector, overLimits } from '../measure/fit';
import type { Threshold } from '../policy/threshold';
import { outcomeOf } from '../state/outcome';
import { imagesTier } from '../tiers/images';
import { microTier } from '../tiers/micro';
import { onDeviceTier } from '../tiers/on-device';
import { pruneTier } from '../tiers/prune';
import { summaryTier } from '../tiers/summary';
import { viewHash } from '../view/hash';
import { renderView } from '../view/render';
import { baseOf } from './base';
import type { Base } from './base';
import { hideThrough } from './hide';
import type { Change } from './hide';
import type { LadderInput } from './input';
import { lossLedger } from './ledger';
import { countedTotal, isAsked, planPass, rawTotal } from './plan';
import type { Plan } from './plan';
import { stopReason } from './ports';
import type { LadderPorts, TierName } from './ports';
import { storeAll } from './stored';

/** Wall-clock budget of one pass, in milliseconds. */
const passBudgetMs = 300_000;

export interface LadderResult {
  readonly outcome: compaction.PassOutcome;
  /** Absent = nothing is committed. */
  readonly checkpoint?: compaction.Checkpoint;
  readonly view?: transcript.View;
  readonly tiers: readonly compaction.TierReport[];
  readonly loss: compaction.LossLedger;
  readonly threshold: Threshold;
  readonly before: number;
  readonly after: number;
  readonly reason: string;
  readonly summaryCalls: number;
  readonly summaryFailed: boolean;
  /** The summary call could not use the provider's prompt cache (images had to go). */
  readonly prefixBreak: boolean;
}

/**
 * One pass: tier after tier until one lands at or below the landing line. Commits nothing itself; the result says what to
 * commit. Rejects only with the reason of its signal.
 */
export async function runLadder(input: LadderInput, ports: LadderPorts): Promise<LadderResult> {
  return new Ladder(planPass(input), ports).run();
}

/** Whether a pass still has a reason under the window as it is now. */
export function isDue(plan: Pick<LadderInput, 'reason' | 'measured'>, threshold: Threshold): boolean {
  return isAsked(plan.reason) || plan.measured === 0 || plan.measured > threshold.effective;
}

class Ladder {
  private readonly tiers: compaction.TierReport[] = [];
  private readonly startedAt: number;
  private readonly base: Base;
  private current: compaction.Checkpoint;
  private tokens: number;
  private applied = false;
  private pruned = false;
  private summaryCalls = 0;
  private summaryFailed = false;
  private prefixBreak = false;
  /** What the base needs stored; with the first tier that is applied. */
  private owed: Change['items'];

  constructor(
    private readonly plan: Plan,
    private readonly ports: LadderPorts,
  ) {
    this.startedAt = ports.clock();
    this.base = baseOf(plan);
    this.current = this.base.checkpoint;
    this.owed = this.base.items;
    this.tokens = plan.before;
  }

  async run(): Promise<LadderResult> {
    const { threshold, input } = this.plan;
    if (threshold.irreducible) return this.nothing(`CONTEXT_IRREDUCIBLE: ${threshold.irreducible.message}`);
    if (!isDue({ reason: input.reason, measured: this.plan.before }, threshold)) {
      return {
        ...this.nothing(`measured ${this.plan.before} does not exceed ${threshold.effective}`),
        outcome: compaction.PassOutcome.NO_LONGER_DUE,
      };
    }
    if (input.imagesOnly) {
      await this.tier('images', () => this.images());
      return this.result();
    }
    await this.tier('summary', () => this.summary());
    if (!this.landed()) await this.tier('micro', () => this.micro());
    if (!this.landed()) await this.tier('images', () => this.images());
    if (!this.landed()) await this.tier('on_device', () => this.onDevice());
    if (!this.landed()) await this.tier('prune', () => this.prune());
    return this.result();
  }

  private landed(): boolean {
    return this.applied && this.tokens <= this.plan.budgets.landing && this.fits();
  }

  private fits(): boolean {
    const { limits } = this.plan.input;
    if (!limits) return true;
    return overLimits(fitVector(this.render(this.current), this.tokens), limits).length === 0;
  }

  private async tier(name: TierName, run: () => Promise<{ outcome: string; reason: string }>): Promise<void> {
    this.stopIfAsked();
    this.ports.onTier?.(name);
    const before = this.tokens;
    const at = this.ports.clock();
    const { outcome, reason } = await run();
    this.tiers.push(
      create(compaction.TierReportSchema, {
        tier: name,
        outcome,
        before,
        after: this.tokens,
        ms: Math.max(0, Math.round(this.ports.clock() - at)),
        reason,
      }),
    );
  }

  private async summary(): Promise<{ outcome: string; reason: string }> {
    const result = await summaryTier(this.plan, this.base, this.ports, () => this.timeLeft());
    if (result.outcome === 'skipped') {
      this.summaryFailed = result.streak;
      return { outcome: 'skipped', reason: result.reason };
    }
    this.summaryCalls = result.calls;
    this.prefixBreak = result.prefixBreak;
    if (result.outcome === 'failed') {
      this.summaryFailed = true;
      return { outcome: 'failed', reason: result.reason };
    }
    const change = hideThrough(this.plan, this.base.checkpoint, this.base.through, { summary: result.summary, digest: '' });
    const applied = await this.apply(change, result.reason);
    // A store that is away says nothing about the summarizer.
    this.summaryFailed = applied.outcome === 'rejected';
    return applied;
  }

  private async micro(): Promise<{ outcome: string; reason: string }> {
    const change = microTier(this.plan, this.base, this.current);
    return change ? this.apply(change, '') : { outcome: 'skipped', reason: 'no old result is worth a placeholder' };
  }

  private async images(): Promise<{ outcome: string; reason: string }> {
    const change = imagesTier(this.plan, this.current, this.plan.input.limits);
    return change ? this.apply(change, '') : { outcome: 'skipped', reason: 'no images outside the last messages' };
  }

  private async onDevice(): Promise<{ outcome: string; reason: string }> {
    if (!this.plan.policy.tokenCompression) return { outcome: 'skipped', reason: 'tokenCompression is off' };
    if (!this.ports.condense) return { outcome: 'skipped', reason: 'no on-device model is configured' };
    const landed = (checkpoint: compaction.Checkpoint): boolean =>
      countedTotal(this.plan, checkpoint) <= this.plan.budgets.landing;
    const change = await onDeviceTier(this.plan, this.base, this.current, this.ports, landed, () => this.timeLeft());
    if (change.calls === 0) return { outcome: 'skipped', reason: 'no old message above 300 characters' };
    if (change.items.length === 0)
      return { outcome: 'failed', reason: `${change.failures} of ${change.calls} answers could not be used` };
    return this.apply(change, change.failures === 0 ? '' : `${change.failures} of ${change.calls} answers could not be used`);
  }

  private async prune(): Promise<{ outcome: string; reason: string }> {
    const applied = await this.apply(pruneTier(this.plan, this.base, this.current), '');
    this.pruned = applied.outcome === 'applied';
    return applied;
  }

  /** A change counts only if the view got smaller and everything it hides was read back from the store. */
  private async apply(change: Change, reason: string): Promise<{ outcome: string; reason: string }> {
    const after = countedTotal(this.plan, change.checkpoint);
    if (after >= this.tokens) return { outcome: 'rejected', reason: `not smaller: ${after} tokens after, ${this.tokens} before` };
    try {
      await storeAll(this.ports.store, [...this.owed, ...change.items], this.ports.signal);
    } catch (thrown) {
      this.stopIfAsked();
      const error = NightshiftError.from(thrown);
      return { outcome: 'failed', reason: `not hidden, since it could not be stored: ${error.message}` };
    }
    this.owed = [];
    this.current = change.checkpoint;
    this.tokens = after;
    this.applied = true;
    return { outcome: 'applied', reason };
  }

  private result(): LadderResult {
    if (!this.applied) return this.nothing(this.tiers.map((tier) => `${tier.tier}: ${tier.reason || tier.outcome}`).join('; '));
    const { plan } = this;
    const outcome = outcomeOf({
      before: plan.before,
      after: this.tokens,
      effective: plan.threshold.effective,
      committed: true,
      summaryFailed: this.summaryFailed,
      pruned: this.pruned,
    });
    const view = this.render(this.current);
    const checkpoint = create(compaction.CheckpointSchema, {
      ...this.current,
      viewSha256: viewHash(view),
      viewEstimate: rawTotal(plan, this.current) - plan.prefixRaw,
      tokens: create(compaction.TokensSchema, { before: plan.before, after: this.tokens }),
    });
    const loss = lossLedger(plan, checkpoint);
    return { ...this.figures(outcome, this.tokens, ''), checkpoint, view, loss };
  }

  private nothing(reason: string): LadderResult {
    return this.figures(compaction.PassOutcome.FAILED, this.plan.before, reason);
  }

  private figures(outcome: compaction.PassOutcome, after: number, reason: string): LadderResult {
    return {
      outcome,
      tiers: this.tiers,
      loss: create(compaction.LossLedgerSchema),
      threshold: this.plan.threshold,
      before: this.plan.before,
      after,
      reason,
      summaryCalls: this.summaryCalls,
      summaryFailed: this.summaryFailed,
      prefixBreak: this.prefixBreak,
    };
  }

  private render(checkpoint: compaction.Checkpoint): transcript.View {
    const { system, tools, entries } = this.plan.input;
    return renderView({ system, tools, entries, checkpoint });
  }

  private timeLeft(): number {
    return (this.plan.input.budgetMs ?? passBudgetMs) - (this.ports.clock() - this.startedAt);
  }

  private stopIfAsked(): void {
    if (this.ports.signal?.aborted) throw stopReason(this.ports.signal);
  }
}
