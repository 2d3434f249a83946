import { NightshiftError } from '@nightshift/contracts';

/** How long a stop is remembered, in milliseconds: one that overtakes its pass must still stop it. */
const rememberMs = 60_000;

/** Which tasks were stopped, and what runs for each of them in this process. */
export class StoppedTasks {
  private readonly stopped = new Map<string, number>();
  private readonly running = new Map<string, Set<AbortController>>();

  constructor(private readonly now: () => number) {}

  /**
   * Registers a pass; call it before anything is spent. A task that was stopped within the last minute is aborted at once,
   * so that no stop can fall between.
   */
  begin(team: string, taskId: string): { readonly signal: AbortSignal; end(): void } {
    const key = keyOf(team, taskId);
    const controller = new AbortController();
    const running = this.running.get(key) ?? new Set();
    this.running.set(key, running.add(controller));
    const at = this.stopped.get(key);
    if (at !== undefined && this.now() - at < rememberMs) controller.abort(stopOf(taskId));
    return {
      signal: controller.signal,
      end: () => {
        running.delete(controller);
        if (running.size === 0 && this.running.get(key) === running) this.running.delete(key);
      },
    };
  }

  /** Aborts what runs for a task and remembers the stop; returns how many passes that were. */
  stop(team: string, taskId: string): number {
    const now = this.now();
    for (const [key, at] of this.stopped) if (now - at >= rememberMs) this.stopped.delete(key);
    this.stopped.set(keyOf(team, taskId), now);
    const running = [...(this.running.get(keyOf(team, taskId)) ?? [])];
    for (const controller of running) controller.abort(stopOf(taskId));
    return running.length;
  }

  isIdle(team: string, taskId: string): boolean {
    return !this.running.has(keyOf(team, taskId));
  }
}

function stopOf(taskId: string): NightshiftError {
  return new NightshiftError('CANCELLED', `task ${taskId} was stopped`);
}

function keyOf(team: string, taskId: string): string {
  return `${team} ${taskId}`;
}
