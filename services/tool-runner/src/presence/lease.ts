import { NightshiftError } from '@nightshift/contracts';

/**
 * Until when the orchestrator counts on this runner. Wall-clock time, so that a machine that was frozen and wakes up
 * notices at once.
 */
export class Lease {
  private until = 0;

  /** @param lastsMs how long an answered announcement holds here; shorter than the orchestrator's 60 s. */
  constructor(private readonly lastsMs: number) {}

  /** Counts from when the announcement was sent: the orchestrator's clock starts later. */
  renew(askedAt: number): void {
    this.until = askedAt + this.lastsMs;
  }

  held(now: number): boolean {
    return now < this.until;
  }

  /** Why this runner should get no work now. */
  fault(now: number): string | undefined {
    return this.held(now) ? undefined : 'runner: not announced at the orchestrator';
  }

  /** Throws UNAVAILABLE: the call stays in the queue until this runner has announced itself again. */
  require(now: number): void {
    if (!this.held(now)) {
      throw new NightshiftError('UNAVAILABLE', 'this runner has no live lease at the orchestrator', { retryAfterMs: 1_000 });
    }
  }
}
