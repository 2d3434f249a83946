/** Why a service is not ready; empty when it is. */
export async function faultsOf(operationsUrl: string): Promise<string[]> {
  try {
    const response = await fetch(`${operationsUrl}/health/ready`, { signal: AbortSignal.timeout(4_000) });
    const { faults } = (await response.json()) as { faults?: string[] };
    return response.ok ? [] : (faults ?? ['not ready']);
  } catch {
    // Not listening yet, or any more.
    return ['does not answer'];
  }
}

export interface Waiting {
  /** Service → where it serves /health/ready. */
  services: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Told whenever one more is ready. */
  onProgress(ready: readonly string[], waiting: readonly string[]): void;
  /** Throws when waiting is pointless (a process that ended for good). */
  check(): void;
}

/**
 * Waits until every service is ready.
 * @returns the faults of those that are not when the time is up; empty when all are ready.
 */
export async function untilAllReady({ services, timeoutMs, onProgress, check }: Waiting): Promise<Record<string, string[]>> {
  const until = Date.now() + timeoutMs;
  let readyBefore = -1;
  for (;;) {
    check();
    const looked = await Promise.all(Object.entries(services).map(async ([name, url]) => [name, await faultsOf(url)] as const));
    const waiting = looked.filter(([, faults]) => faults.length > 0);
    if (looked.length - waiting.length !== readyBefore) {
      readyBefore = looked.length - waiting.length;
      const names = (list: typeof looked): string[] => list.map(([name]) => name);
      onProgress(names(looked.filter(([, faults]) => faults.length === 0)), names(waiting));
    }
    if (waiting.length === 0) return {};
    if (Date.now() > until) return Object.fromEntries(waiting);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
