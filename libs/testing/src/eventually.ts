export interface EventuallyOptions {
  timeoutMs?: number;
  everyMs?: number;
}

/**
 * Repeats `check` until it neither throws nor returns false or undefined, and returns its value. On time-out (10 s) it
 * throws what the last try threw, so that the failing expectation is what the test shows.
 */
export async function eventually<T>(check: () => T | Promise<T>, options: EventuallyOptions = {}): Promise<NonNullable<T>> {
  const until = performance.now() + (options.timeoutMs ?? 10_000);
  for (;;) {
    let fault: unknown;
    try {
      const value = await check();
      if (value !== false && value !== undefined && value !== null) return value as NonNullable<T>;
      fault = new Error(`still ${String(value)} after ${options.timeoutMs ?? 10_000} ms`);
    } catch (thrown) {
      fault = thrown;
    }
    if (performance.now() > until) throw fault;
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 20));
  }
}
