import { NightshiftError, isNightshiftError } from '@nightshift/contracts';
import type { Api } from '../client/api';
import type { TaskEventJson, TaskJson } from '../client/shapes';
import type { ServerEvent } from '../client/sse';

export interface Watcher {
  /** A recorded event, in order, each once. */
  event(event: TaskEventJson): void;
  /** The task as it is now; after events, at most once a second. */
  task(task: TaskJson): void;
  /** A piece of text on its way. */
  live?(type: string, data: Record<string, unknown>): void;
}

const refreshEveryMs = 1_000;
const comeBackMs = 1_000;
const endStates: ReadonlyArray<TaskJson['state']> = ['completed', 'failed', 'cancelled'];

export function hasEnded(task: TaskJson): boolean {
  return endStates.includes(task.state);
}

/**
 * Follows a task until it has ended or `signal` fires; a broken connection is taken up again where it broke.
 * @returns the task as it was last seen.
 */
export async function follow(api: Api, id: string, watcher: Watcher, signal: AbortSignal, after = 0): Promise<TaskJson> {
  let last = after;
  const path = `/v1/tasks/${id}`;
  let task = await api.get<TaskJson>(path);
  watcher.task(task);
  const refresher = new Refresher(async () => {
    task = await api.get<TaskJson>(path, { signal });
    watcher.task(task);
  });
  const onEvent = ({ event, data }: ServerEvent): void => {
    const value = JSON.parse(data) as Record<string, unknown>;
    if (event === 'task') {
      const recorded = value as unknown as TaskEventJson;
      if (recorded.seq <= last) return;
      last = recorded.seq;
      watcher.event(recorded);
      refresher.due();
    } else if (event === 'error') {
      throw new NightshiftError('UNAVAILABLE', String(value.detail ?? 'the stream failed'));
    } else if (event === 'delta' || event === 'tool_output') {
      watcher.live?.(event, value);
    }
  };
  try {
    while (!signal.aborted) {
      try {
        await api.events(`${path}/events`, { query: { after: last }, signal }, onEvent);
        task = await api.get<TaskJson>(path, { signal });
        watcher.task(task);
        if (hasEnded(task)) break;
      } catch (thrown) {
        if (signal.aborted) break;
        if (!isNightshiftError(thrown) || !thrown.retryable) throw thrown;
        await pause(comeBackMs, signal);
      }
    }
  } finally {
    refresher.stop();
  }
  return task;
}

/** Runs a refresh soon after it is due, never twice at once, and not more often than once a second. */
class Refresher {
  private timer: NodeJS.Timeout | undefined;
  private lastMs = 0;

  constructor(private readonly refresh: () => Promise<void>) {}

  due(): void {
    if (this.timer) return;
    const wait = Math.max(0, this.lastMs + refreshEveryMs - Date.now());
    this.timer = setTimeout(() => {
      // A failed look is followed by another at the next event; the stream itself reports a server that is gone.
      void this.refresh()
        .catch(() => undefined)
        .finally(() => {
          this.lastMs = Date.now();
          this.timer = undefined;
        });
    }, wait);
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
