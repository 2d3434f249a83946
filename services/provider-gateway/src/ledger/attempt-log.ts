import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { llm } from '@nightshift/contracts';
import { Logger } from '@nightshift/metrics';
import type { CallKey } from './call-key';
import { CallStore } from './call.store';

const gatherMs = 50;
const largest = 500;
/** With the database away for long, the oldest are given up: memory must not grow without bound. */
const keptAtMost = 20_000;

/** Attempts of calls without a claim (front doors), written soon and together: no request waits for its own row. */
@Injectable()
export class AttemptLog implements OnApplicationShutdown {
  private waiting: { key: CallKey; attempt: llm.Attempt }[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    @Inject(CallStore) private readonly store: CallStore,
    private readonly logger: Logger,
  ) {}

  add(key: CallKey, attempt: llm.Attempt): void {
    this.waiting.push({ key, attempt });
    this.timer ??= setTimeout(() => this.flush(), gatherMs);
  }

  async onApplicationShutdown(): Promise<void> {
    this.flush();
    await this.writing;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.write());
  }

  private async write(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, largest);
      try {
        await this.store.recordAlone(batch);
      } catch (error) {
        const lost = Math.max(0, this.waiting.length + batch.length - keptAtMost);
        this.logger.error({ error, lost }, 'attempts could not be written');
        this.waiting = [...batch, ...this.waiting].slice(lost);
        this.timer ??= setTimeout(() => this.flush(), 1_000);
        return;
      }
    }
  }
}
