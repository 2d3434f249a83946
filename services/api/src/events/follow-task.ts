import { isNightshiftError, toMs, type task } from '@nightshift/contracts';
import type { Json } from '../http/present';

/** What a reader of a task can ask and listen to. */
export interface FollowSource {
  /** Recorded events after a sequence number, oldest first. `ended`: the task is in a terminal state. */
  query(afterSeq: number): Promise<Pick<task.EventsReply, 'events' | 'more' | 'ended'>>;
  /** Calls back with the newest sequence number whenever something was recorded. */
  onChanged(wake: (lastSeq: number) => void): () => void;
  /** Calls back with what is not recorded: pieces of text on their way. */
  onLive(show: (type: string, data: Json) => void): () => void;
}

export interface FollowSink {
  event(seq: number, data: Json): Promise<void>;
  live(type: string, data: Json): void;
  /** Last call: the task has ended and everything was shown. */
  end(): void;
}

/** A missed wake-up costs at most this. */
export const queryEveryMs = 10_000;
const retryMs = 1_000;

/**
 * Shows a task from `after` on: subscribe first, then replay, then follow. What was recorded is read from its owner
 * alone and in order; a message only wakes, so a lost one delays and never skips.
 * Resolves when the task has ended or `signal` fires; rejects on an error that repeating does not cure.
 */
export async function followTask(source: FollowSource, sink: FollowSink, after: number, signal: AbortSignal): Promise<void> {
  let last = after;
  const bell = new Bell();
  const stops = [
    source.onChanged((lastSeq) => {
      if (lastSeq > last) bell.ring();
    }),
    source.onLive((type, data) => sink.live(type, data)),
  ];
  try {
    while (!signal.aborted) {
      const outcome = await showNew();
      if (outcome === 'ended') return sink.end();
      await bell.wait(outcome === 'retry' ? retryMs : queryEveryMs, signal);
    }
  } finally {
    for (const stop of stops) stop();
  }

  async function showNew(): Promise<'ended' | 'retry' | 'shown'> {
    for (;;) {
      let reply;
      try {
        reply = await source.query(last);
      } catch (thrown) {
        // The orchestrator is being restarted: the reader keeps its stream and gets what it missed.
        if (isNightshiftError(thrown) && thrown.retryable) return 'retry';
        throw thrown;
      }
      for (const event of reply.events) {
        if (event.seq <= last || signal.aborted) continue;
        last = event.seq;
        await sink.event(event.seq, shown(event));
      }
      if (!reply.more) return reply.ended ? 'ended' : 'shown';
      if (signal.aborted) return 'shown';
    }
  }
}

function shown(event: task.TaskEvent): Json {
  const data = event.dataJson === '' ? {} : (JSON.parse(event.dataJson) as Json);
  return { seq: event.seq, atMs: toMs(event.atMs), taskId: event.taskId, kind: event.kind, data };
}

/** Remembers a ring that comes while nobody waits. */
class Bell {
  private rung = false;
  private waiting: (() => void) | undefined;

  ring(): void {
    this.rung = true;
    this.waiting?.();
  }

  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.rung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        this.waiting = done;
        signal.addEventListener('abort', done);
      });
    }
    this.rung = false;
    this.waiting = undefined;
  }
}
