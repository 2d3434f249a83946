interface Waiting<I, O> {
  item: I;
  resolve: (output: O) => void;
  reject: (thrown: unknown) => void;
}

export interface BatchOptions<I, O> {
  /** Runs a batch; outputs in the order of its items. */
  run: (items: readonly I[]) => Promise<O[]>;
  /** Items of one batch at most. */
  size: number;
  /** Batches at once at most. */
  width: number;
  /** Two items with one key never share a batch. */
  keyOf: (item: I) => string;
}

/**
 * Puts items that wait anyway into one statement: an item that finds a free slot runs at once and alone, and only what comes
 * while all slots are busy is gathered. Nothing ever waits for company.
 */
export class Batcher<I, O> {
  private waiting: Waiting<I, O>[] = [];
  private running = 0;

  constructor(private readonly options: BatchOptions<I, O>) {}

  add(item: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.start();
    });
  }

  private start(): void {
    while (this.running < this.options.width && this.waiting.length > 0) {
      this.running += 1;
      void this.runBatch(this.take()).finally(() => {
        this.running -= 1;
        this.start();
      });
    }
  }

  private take(): Waiting<I, O>[] {
    const keys = new Set<string>();
    const taken: Waiting<I, O>[] = [];
    const left: Waiting<I, O>[] = [];
    for (const each of this.waiting) {
      const key = this.options.keyOf(each.item);
      if (taken.length >= this.options.size || keys.has(key)) left.push(each);
      else {
        keys.add(key);
        taken.push(each);
      }
    }
    this.waiting = left;
    return taken;
  }

  private async runBatch(batch: Waiting<I, O>[]): Promise<void> {
    try {
      const outputs = await this.options.run(batch.map((each) => each.item));
      batch.forEach((each, index) => each.resolve(outputs[index] as O));
    } catch (thrown) {
      const [only] = batch;
      if (batch.length === 1) return only?.reject(thrown);
      // One bad item (text that Postgres refuses) must not fail its neighbours, who may be another team's.
      for (const each of batch) await this.runBatch([each]);
    }
  }
}
