import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Logger } from '@nightshift/metrics';
import { CallStore, leaseSeconds } from '../ledger/call.store';
import { CallDesk } from './call-desk';

const tidyEveryMs = 60_000;

/** Renews the leases of running calls, three times within a lease, and tidies the ledger once a minute. */
@Injectable()
export class LeaseKeeper implements OnApplicationBootstrap, OnApplicationShutdown {
  private timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly store: CallStore,
    private readonly desk: CallDesk,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const guarded = (what: string, work: () => Promise<void>) => () => {
      // A missed renewal is made up by the next; a lost lease shows as a call that another replica took over.
      work().catch((error: unknown) => this.logger.warn({ error }, `ledger: ${what} failed`));
    };
    this.timers = [
      setInterval(
        guarded('renewing leases', () => (this.desk.inFlight > 0 ? this.store.renew() : Promise.resolve())),
        (leaseSeconds * 1_000) / 3,
      ),
      setInterval(
        guarded('tidying', () => this.store.tidy()),
        tidyEveryMs,
      ),
    ];
  }

  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await this.desk.settled();
    await this.store.close();
  }
}
