import type { Kv } from '@nightshift/bus';
import { kvKey } from '@nightshift/bus';
import type { Classified } from '../classify/classify';
import { classPolicies } from '../classify/error-class';
import { retryBudget } from '../core/after-failure';
import {
  admission,
  afterFailure,
  afterNeutral,
  afterSuccess,
  closedBreaker,
  merged,
  nothingSeen,
  withProbe,
  type Judged,
  type SeenOutcomes,
  type SharedBreaker,
} from './breaker';

export interface BreakerName {
  provider: string;
  credential: string;
  model: string;
}

export type Permit =
  | { allowed: true; name: BreakerName; generation: number }
  | { allowed: false; untilMs: number; reason: string };
export type Outcome = { kind: 'ok' } | { kind: 'failed'; failure: Classified };

export interface BreakerReport extends SharedBreaker, BreakerName {
  failures: number;
}

interface Entry {
  name: BreakerName;
  shared: SharedBreaker;
  revision: number | undefined;
  seen: SeenOutcomes;
  writing: Promise<void>;
}

export interface BoardHooks {
  onTrip(report: BreakerReport): void;
  onChange(report: BreakerReport): void;
  onStoreFault(error: unknown): void;
}

/**
 * The breakers of this process, kept in step with the other replicas through a bucket. Decisions are made on the local
 * copy; only a probe waits for the bucket, since its lease must be held by one replica alone. Without a bucket (NATS
 * away, conformance runs) each process decides for itself.
 */
export class BreakerBoard {
  private readonly entries = new Map<string, Entry>();
  private kv: Kv | undefined;

  constructor(
    private readonly owner: string,
    private readonly hooks: BoardHooks,
    private readonly now: () => number,
  ) {}

  /** Follows the shared bucket; what it holds survives restarts of every gateway. */
  async follow(kv: Kv): Promise<{ stop(): void }> {
    const watch = await kv.watch((change) => {
      if (change.value === undefined) return;
      const stored = JSON.parse(Buffer.from(change.value).toString('utf8')) as SharedBreaker & BreakerName;
      const entry = this.entry({ provider: stored.provider, credential: stored.credential, model: stored.model });
      if (entry.revision !== undefined && change.revision < entry.revision) return;
      entry.revision = change.revision;
      this.adopt(entry, merged(stored, entry.shared));
    });
    await watch.ready;
    this.kv = kv;
    return watch;
  }

  /** @param onlyChoice the caller has no other candidate */
  async permit(name: BreakerName, onlyChoice = false): Promise<Permit> {
    const entry = this.entry(name);
    const now = this.now();
    switch (admission(entry.shared, now, onlyChoice)) {
      case 'pass':
        return { allowed: true, name, generation: entry.shared.generation };
      case 'refuse':
        return this.refusal(entry, now);
      case 'probe':
        return (await this.takeProbe(entry, now))
          ? { allowed: true, name, generation: entry.shared.generation }
          : this.refusal(entry, now);
    }
  }

  report(permit: Extract<Permit, { allowed: true }>, outcome: Outcome): void {
    const entry = this.entry(permit.name);
    // A slow answer from before the breaker opened must not close it.
    if (permit.generation < entry.shared.generation) return;
    const now = this.now();
    this.apply(entry, this.judge(entry, outcome, now));
  }

  /** A permit that was not used. */
  giveBack(permit: Extract<Permit, { allowed: true }>): void {
    const entry = this.entry(permit.name);
    if (permit.generation === entry.shared.generation) this.apply(entry, afterNeutral(entry.shared, entry.seen, this.now()));
  }

  /** Every breaker that ever left the closed state or saw an outcome. */
  reports(): BreakerReport[] {
    return [...this.entries.values()].map(reportOf);
  }

  /** Resolves when everything decided so far is in the bucket (or failed to get there). */
  async settled(): Promise<void> {
    await Promise.all([...this.entries.values()].map((entry) => entry.writing));
  }

  private judge(entry: Entry, outcome: Outcome, now: number): Judged {
    if (outcome.kind === 'ok') return afterSuccess(entry.shared, entry.seen, now);
    const { failure } = outcome;
    const policy = classPolicies[failure.class].breaker;
    if (policy === 'neutral') return afterNeutral(entry.shared, entry.seen, now);
    const stayAwayMs = failure.waitMs !== undefined && failure.waitMs > retryBudget.waitMs ? failure.waitMs : 0;
    return afterFailure(entry.shared, entry.seen, { reason: failure.class, opensAtOnce: policy === 'open', stayAwayMs }, now);
  }

  private apply(entry: Entry, judged: Judged): void {
    entry.seen = judged.seen;
    if (judged.shared === entry.shared) return;
    entry.shared = judged.shared;
    if (judged.tripped) this.hooks.onTrip(reportOf(entry));
    this.hooks.onChange(reportOf(entry));
    entry.writing = entry.writing.then(() => this.store(entry)).catch((error: unknown) => this.hooks.onStoreFault(error));
  }

  private adopt(entry: Entry, shared: SharedBreaker): void {
    if (shared.generation !== entry.shared.generation || shared.openUntil !== entry.shared.openUntil) {
      entry.shared = shared;
      entry.seen = nothingSeen;
      this.hooks.onChange(reportOf(entry));
    }
  }

  private async takeProbe(entry: Entry, now: number): Promise<boolean> {
    const wanted = withProbe(entry.shared, this.owner, now);
    const before = entry.shared;
    // Set before the bucket is asked: the other calls of this process must not ask, too.
    entry.shared = wanted;
    try {
      if (this.kv) entry.revision = await this.write(entry, wanted);
      this.hooks.onChange(reportOf(entry));
      return true;
    } catch (error) {
      this.hooks.onStoreFault(error);
      if (isConflict(error)) {
        // Another replica was faster; its state comes with the watch.
        if (entry.shared === wanted) entry.shared = { ...before, openUntil: now + 1_000 };
        return false;
      }
      return true;
    }
  }

  private async store(entry: Entry): Promise<void> {
    if (!this.kv) return;
    for (let tries = 0; tries < 5; tries++) {
      try {
        entry.revision = await this.write(entry, entry.shared);
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
        const stored = await this.kv.get(keyOf(entry.name));
        entry.revision = stored?.revision;
        if (!stored) continue;
        const other = JSON.parse(Buffer.from(stored.value).toString('utf8')) as SharedBreaker;
        const kept = merged(entry.shared, other);
        if (kept === other) return this.adopt(entry, other);
      }
    }
  }

  private async write(entry: Entry, shared: SharedBreaker): Promise<number> {
    const kv = this.kv;
    if (!kv) return 0;
    const value = JSON.stringify({ ...entry.name, ...shared });
    return entry.revision === undefined
      ? kv.create(keyOf(entry.name), value)
      : kv.update(keyOf(entry.name), value, entry.revision);
  }

  private refusal(entry: Entry, now: number): Permit {
    const untilMs =
      entry.shared.state === 'half_open'
        ? Math.min(entry.shared.probeUntil, now + 2_000)
        : Math.max(entry.shared.openUntil, now + 1_000);
    return { allowed: false, untilMs, reason: entry.shared.reason };
  }

  private entry(name: BreakerName): Entry {
    // Not the bucket's key: that one is encoded, and this runs twice per call.
    const key = `${name.provider}\n${name.credential}\n${name.model}`;
    let entry = this.entries.get(key);
    if (!entry) {
      entry = { name, shared: closedBreaker, revision: undefined, seen: nothingSeen, writing: Promise.resolve() };
      this.entries.set(key, entry);
    }
    return entry;
  }
}

function keyOf(name: BreakerName): string {
  return kvKey(name.provider, name.credential, name.model);
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'CONFLICT';
}

function reportOf(entry: Entry): BreakerReport {
  return { ...entry.shared, ...entry.name, failures: entry.seen.failures };
}
