/**
 * The end of a process in two steps, as work sees it that no handler waits for: first nothing new is begun, then, when the time
 * is up, what still runs is told to stop.
 */
export class Drain {
  private readonly first = new AbortController();
  private readonly last = new AbortController();
  private readonly held = new Set<Promise<unknown>>();

  /** Fires when the process is asked to end: finish the unit of work under way, record it, begin no other. */
  get begun(): AbortSignal {
    return this.first.signal;
  }

  /** Fires when no time is left to finish. */
  get over(): AbortSignal {
    return this.last.signal;
  }

  /** A drain waits for this work, as it does for handlers. */
  hold(work: Promise<unknown>): void {
    const held = work.catch(() => undefined).finally(() => this.held.delete(held));
    this.held.add(held);
  }

  begin(): void {
    this.first.abort();
  }

  abort(reason: Error): void {
    this.last.abort(reason);
  }

  /** Resolves when nothing is held, also not what the held work itself has begun. */
  async idle(): Promise<void> {
    while (this.held.size > 0) await Promise.all(this.held);
  }
}
