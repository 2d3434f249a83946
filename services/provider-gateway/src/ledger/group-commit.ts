import { isNightshiftError } from '@nightshift/contracts';

/**
 * Runs many small writes as few large ones: while one batch is on its way, what comes meanwhile gathers into the next.
 * Alone, an item waits for nobody; under load a round trip and a commit are shared by all.
 */
export class GroupCommit<T, R> {
  private waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = [];
  private running = false;

  /**
   * @param perform gets 1 to `largest` items and returns as many results, in their order
   * @param options `gatherMs`: how long to wait for company, where nobody waits for the result
   */
  constructor(
    private readonly perform: (items: T[]) => Promise<R[]>,
    private readonly options: { largest: number; gatherMs?: number },
  ) {}

  run(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    if (this.running || this.waiting.length === 0) return;
    this.running = true;
    if (this.options.gatherMs === undefined) void this.flush();
    else setTimeout(() => void this.flush(), this.options.gatherMs);
  }

  private async flush(): Promise<void> {
    const batch = this.waiting.splice(0, this.options.largest);
    try {
      const results = await this.perform(batch.map((one) => one.item));
      batch.forEach((one, index) => one.resolve(results[index] as R));
    } catch (error) {
      // With the server away all fail together; any other fault is of one item, and must not be the others'.
      const together = batch.length === 1 || (isNightshiftError(error) && error.retryable);
      for (const one of batch) {
        if (together) one.reject(error);
        else await this.perform([one.item]).then(([result]) => one.resolve(result as R), one.reject);
      }
    }
    this.running = false;
    this.next();
  }
}
