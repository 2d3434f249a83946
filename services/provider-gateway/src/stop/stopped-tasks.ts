import { NightshiftError } from '@nightshift/contracts';

/** How long a stop is remembered: one that overtakes its call must still stop it. */
const rememberMs = 60_000;

export interface StopHandle {
  abort(reason: NightshiftError): void;
}

/** Which tasks must not spend any more, and what runs for each task in this process. */
export class StoppedTasks {
  private readonly stopped = new Map<string, number>();
  private readonly running = new Map<string, Set<StopHandle>>();

  constructor(private readonly now: () => number) {}

  /** Registers what can be aborted; call it before `check` and before spending, so that no stop falls in between. */
  register(team: string, task: string, handle: StopHandle): () => void {
    const key = keyOf(team, task);
    let handles = this.running.get(key);
    if (!handles) this.running.set(key, (handles = new Set()));
    handles.add(handle);
    return () => {
      handles.delete(handle);
      if (handles.size === 0 && this.running.get(key) === handles) this.running.delete(key);
    };
  }

  /** @throws NightshiftError CANCELLED for a task that was stopped within the last minute */
  check(team: string, task: string): void {
    const at = this.stopped.get(keyOf(team, task));
    if (at !== undefined && this.now() - at < rememberMs) throw new NightshiftError('CANCELLED', `task ${task} was stopped`);
  }

  /** Aborts what runs and remembers the task; returns what was aborted. */
  stop(team: string, task: string): StopHandle[] {
    const now = this.now();
    for (const [key, at] of this.stopped) if (now - at >= rememberMs) this.stopped.delete(key);
    this.stopped.set(keyOf(team, task), now);
    const handles = [...(this.running.get(keyOf(team, task)) ?? [])];
    for (const handle of handles) handle.abort(new NightshiftError('CANCELLED', `task ${task} was stopped`));
    return handles;
  }

  isIdle(team: string, task: string): boolean {
    return !this.running.has(keyOf(team, task));
  }
}

function keyOf(team: string, task: string): string {
  return `${team} ${task}`;
}
