/**
 * Runs many small writes as few large ones: while one batch is on its way, what comes meanwhile gathers into the next.
 * Alone, an item waits for nobody; under load a round trip and a commit are shared by all.
 */
export class GroupCommit<T, R> {
  private waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = [];
  private running = 0;

  /** @param perform gets 1 to `largest` items and returns as many results, in their order */
  constructor(
    private readonly perform: (items: T[]) => Promise<R[]>,
    private readonly options: { atOnce: number; largest: number },
  ) {}

  run(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    if (this.running >= this.options.atOnce || this.waiting.length === 0) return;
    this.running++;
    const batch = this.waiting.splice(0, this.options.largest);
    this.perform(batch.map((one) => one.item))
      .then(
        (results) => batch.forEach((one, index) => one.resolve(results[index] as R)),
        (error: unknown) => batch.forEach((one) => one.reject(error)),
      )
      .finally(() => {
        this.running--;
        this.next();
      });
  }
}
