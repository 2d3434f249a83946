/** Bounded concurrency with a bounded queue behind it; whoever finds both full is told so instead of waiting. */
export class Slots {
  private inside = 0;
  private readonly queue: (() => void)[] = [];
  private whenIdle: (() => void)[] = [];

  constructor(
    readonly limit: number,
    readonly queueLimit: number,
    /** Called whenever a slot has become free and nothing waited for it. */
    private readonly freed: () => void = () => undefined,
  ) {}

  get running(): number {
    return this.inside;
  }

  get waiting(): number {
    return this.queue.length;
  }

  get free(): number {
    return Math.max(0, this.limit - this.inside);
  }

  /** Runs `work` now or later; false = full, and it never runs. `work` must not reject. */
  offer(work: () => Promise<void>): boolean {
    if (this.inside < this.limit) {
      this.run(work);
      return true;
    }
    if (this.queue.length >= this.queueLimit) return false;
    this.queue.push(() => this.run(work));
    return true;
  }

  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void> {
    if (this.inside === 0 && this.queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.whenIdle.push(resolve));
  }

  private run(work: () => Promise<void>): void {
    this.inside++;
    void work().finally(() => {
      this.inside--;
      const next = this.queue.shift();
      if (next) next();
      else this.freed();
      if (this.inside === 0 && this.queue.length === 0) {
        for (const resolve of this.whenIdle.splice(0)) resolve();
      }
    });
  }
}
