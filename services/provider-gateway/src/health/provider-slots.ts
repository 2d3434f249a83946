import type { Provider } from '../providers/provider';

/** Calls in flight per provider in this process. Whoever finds no free slot answers BUSY instead of queueing. */
export class ProviderSlots {
  private readonly taken = new Map<string, number>();

  /** A function that gives the slot back, or undefined when all are taken. */
  take(provider: Provider): (() => void) | undefined {
    const now = this.inFlight(provider.id);
    if (now >= provider.maxConcurrency) return undefined;
    this.taken.set(provider.id, now + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.taken.set(provider.id, this.inFlight(provider.id) - 1);
    };
  }

  inFlight(provider: string): number {
    return this.taken.get(provider) ?? 0;
  }

  get total(): number {
    let sum = 0;
    for (const count of this.taken.values()) sum += count;
    return sum;
  }
}
