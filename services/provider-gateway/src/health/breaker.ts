/** What replicas share about one provider + credential + model. Only transitions change it. */
export interface SharedBreaker {
  state: 'closed' | 'open' | 'half_open';
  /** Grows by one per transition; an outcome that belongs to an older generation is out of date and ignored. */
  generation: number;
  /** Milliseconds; meaningful while open. */
  openUntil: number;
  /** Length of the last open period: doubles while the provider keeps failing right after it. */
  openMs: number;
  reason: string;
  trips: number;
  /** Who tries while half open, and until when nobody else may: the end of its lease, or of the pause before the next try. */
  probeOwner: string;
  probeUntil: number;
  probesPassed: number;
  changedAt: number;
}

/** Outcomes that this process saw since the last transition: they decide, but are not worth a write each. */
export interface SeenOutcomes {
  failures: number;
  recent: readonly { at: number; failed: boolean }[];
}

export const breakerPolicy = {
  /** Failures in a row that open it. */
  failuresInRow: 3,
  /** Or: at least this many failures, making up at least half of the outcomes, within the span. Catches flapping. */
  failuresInSpan: 2,
  outcomesInSpan: 3,
  spanMs: 60_000,
  firstOpenMs: 30_000,
  longestOpenMs: 300_000,
  /** For a refused key and a spent quota without a hint. */
  accountOpenMs: 300_000,
  probeLeaseMs: 60_000,
  /** Tries in a row that must succeed before it closes, and the pause between them: a flapping provider passes one by luck. */
  probesToClose: 3,
  probeSpacingMs: 5_000,
} as const;

export const closedBreaker: SharedBreaker = {
  state: 'closed',
  generation: 0,
  openUntil: 0,
  openMs: 0,
  reason: '',
  trips: 0,
  probeOwner: '',
  probeUntil: 0,
  probesPassed: 0,
  changedAt: 0,
};
export const nothingSeen: SeenOutcomes = { failures: 0, recent: [] };

export interface Failed {
  reason: string;
  /** One such failure is enough (key refused, quota spent). */
  opensAtOnce: boolean;
  /** How long the provider asked to stay away, beyond what a call would wait. */
  stayAwayMs: number;
}

export interface Judged {
  shared: SharedBreaker;
  seen: SeenOutcomes;
  tripped: boolean;
}

/** May a call go out now? `probe`: only with the lease. */
export function admission(shared: SharedBreaker, now: number, onlyChoice = false): 'pass' | 'probe' | 'refuse' {
  if (shared.state === 'closed') return 'pass';
  // Between two tries nobody is asking; a caller without another candidate need not wait for the pause to end.
  if (onlyChoice && shared.state === 'half_open' && shared.probeOwner === '') return 'probe';
  if (shared.state === 'open') return now >= shared.openUntil ? 'probe' : 'refuse';
  return now >= shared.probeUntil ? 'probe' : 'refuse';
}

/** The state in which `owner` holds the one probe; a lease that ran out can be taken over. */
export function withProbe(shared: SharedBreaker, owner: string, now: number): SharedBreaker {
  return {
    ...shared,
    state: 'half_open',
    generation: shared.generation + 1,
    probeOwner: owner,
    probeUntil: now + breakerPolicy.probeLeaseMs,
    changedAt: now,
  };
}

export function afterSuccess(shared: SharedBreaker, seen: SeenOutcomes, now: number): Judged {
  const recent = remember(seen, now, false);
  if (shared.state === 'closed') return { shared, seen: { failures: 0, recent }, tripped: false };
  const probesPassed = shared.probesPassed + 1;
  if (probesPassed < breakerPolicy.probesToClose) {
    const waiting = {
      ...shared,
      generation: shared.generation + 1,
      probeOwner: '',
      probeUntil: now + breakerPolicy.probeSpacingMs,
      probesPassed,
      changedAt: now,
    };
    return { shared: waiting, seen: nothingSeen, tripped: false };
  }
  // The open length is kept: a provider that fails again soon starts from there.
  const closed: SharedBreaker = {
    ...shared,
    state: 'closed',
    generation: shared.generation + 1,
    openUntil: 0,
    probeOwner: '',
    probeUntil: 0,
    probesPassed: 0,
    changedAt: now,
  };
  return { shared: closed, seen: nothingSeen, tripped: false };
}

/** An attempt that says nothing (abort, overflow): a probe gives its lease back. */
export function afterNeutral(shared: SharedBreaker, seen: SeenOutcomes, now: number): Judged {
  if (shared.state !== 'half_open') return { shared, seen, tripped: false };
  const open: SharedBreaker = {
    ...shared,
    state: 'open',
    generation: shared.generation + 1,
    openUntil: now,
    probeOwner: '',
    probeUntil: 0,
    probesPassed: 0,
    changedAt: now,
  };
  return { shared: open, seen, tripped: false };
}

export function afterFailure(shared: SharedBreaker, seen: SeenOutcomes, failed: Failed, now: number): Judged {
  const recent = remember(seen, now, true);
  const failures = seen.failures + 1;
  const counted: SeenOutcomes = { failures, recent };
  const opens =
    failed.opensAtOnce || failed.stayAwayMs > 0 || shared.state === 'half_open' || onProbation(shared, now) || tooMany(counted);
  if (!opens) return { shared, seen: counted, tripped: false };
  const again = shared.state === 'half_open' || onProbation(shared, now);
  const base = failed.opensAtOnce && failed.stayAwayMs === 0 ? breakerPolicy.accountOpenMs : breakerPolicy.firstOpenMs;
  const openMs = Math.min(breakerPolicy.longestOpenMs, again && shared.openMs > 0 ? shared.openMs * 2 : base);
  // A hint of the provider may be longer than any limit of ours; a shorter deadline never replaces a longer one.
  const until = Math.max(now + Math.max(openMs, failed.stayAwayMs), shared.state === 'open' ? shared.openUntil : 0);
  const open: SharedBreaker = {
    state: 'open',
    generation: shared.generation + 1,
    openUntil: until,
    openMs,
    reason: failed.reason,
    trips: shared.trips + (shared.state === 'open' ? 0 : 1),
    probeOwner: '',
    probeUntil: 0,
    probesPassed: 0,
    changedAt: now,
  };
  return { shared: open, seen: nothingSeen, tripped: shared.state !== 'open' };
}

/** Two replicas' views of the same breaker: the newer generation wins, at the same one the later deadline. */
export function merged(a: SharedBreaker, b: SharedBreaker): SharedBreaker {
  if (a.generation !== b.generation) return a.generation > b.generation ? a : b;
  return a.openUntil >= b.openUntil ? a : b;
}

function tooMany(seen: SeenOutcomes): boolean {
  if (seen.failures >= breakerPolicy.failuresInRow) return true;
  const failed = seen.recent.filter((outcome) => outcome.failed).length;
  return (
    seen.recent.length >= breakerPolicy.outcomesInSpan &&
    failed >= breakerPolicy.failuresInSpan &&
    2 * failed >= seen.recent.length
  );
}

/** Right after it closed, one failure is enough: the provider flaps. */
function onProbation(shared: SharedBreaker, now: number): boolean {
  return shared.state === 'closed' && shared.openMs > 0 && now - shared.changedAt < 2 * shared.openMs;
}

function remember(seen: SeenOutcomes, now: number, failed: boolean): SeenOutcomes['recent'] {
  return [...seen.recent.filter((outcome) => now - outcome.at < breakerPolicy.spanMs), { at: now, failed }].slice(-20);
}
