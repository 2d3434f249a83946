import { NightshiftError } from '@nightshift/contracts';
import type { EndReason } from '../sandbox/command';

export interface RunningCall {
  readonly team: string;
  readonly taskId: string;
  readonly callId: string;
  readonly abort: AbortController;
  /** Settles when the call is published (or failed to be). */
  readonly done: Promise<void>;
}

/** Calls that run in this process: a second delivery attaches to the first, a stop finds them. */
export class RunningCalls {
  private readonly calls = new Map<string, RunningCall>();

  get size(): number {
    return this.calls.size;
  }

  find(team: string, callId: string): RunningCall | undefined {
    return this.calls.get(`${team}/${callId}`);
  }

  /** Runs `work` once per call id; the abort handle is registered before it starts. */
  async run(team: string, taskId: string, callId: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const key = `${team}/${callId}`;
    const abort = new AbortController();
    // Started in a microtask, after the entry is there.
    const done = Promise.resolve().then(() => work(abort.signal));
    this.calls.set(key, { team, taskId, callId, abort, done });
    try {
      await done;
    } finally {
      this.calls.delete(key);
    }
  }

  /** Aborts the calls of a task (or all) and gives them. */
  abort(reason: EndReason, team?: string, taskId?: string): RunningCall[] {
    const matching = [...this.calls.values()].filter(
      (call) => team === undefined || (call.team === team && call.taskId === taskId),
    );
    for (const call of matching) call.abort.abort(abortReason(reason));
    return matching;
  }
}

const texts: Partial<Record<EndReason, string>> = {
  cancelled: 'the task was cancelled',
  lease: 'the runner lost its connection to the orchestrator',
  shutdown: 'the runner is shutting down',
};

/** CANCELLED for a task that was stopped; otherwise UNAVAILABLE, since the call itself is still wanted. */
export function abortReason(end: EndReason): NightshiftError {
  return new NightshiftError(end === 'cancelled' ? 'CANCELLED' : 'UNAVAILABLE', texts[end] ?? end, { details: { end } });
}
