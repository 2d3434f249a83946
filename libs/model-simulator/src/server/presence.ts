import type { ServerResponse } from 'node:http';

/** Longest delay a timer takes; a longer one would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

export interface Presence {
  readonly gone: () => boolean;
  /** Waits, or less when the client leaves; tells whether it is still there. */
  readonly wait: (ms: number) => Promise<boolean>;
  /** Until the send buffer has emptied, or the client has left. */
  readonly drained: () => Promise<void>;
}

/** The client of a response: there until its connection closes. */
export function presence(response: ServerResponse): Presence {
  let wake: (() => void) | undefined;
  response.once('close', () => wake?.());
  const gone = (): boolean => response.destroyed || response.socket === null || response.socket.destroyed;
  return {
    gone,
    drained: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
        response.once('drain', resolve);
      }),
    wait: async (ms) => {
      if (gone()) return false;
      if (ms <= 0) return true;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(ms, TIMER_MAX_MS));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      return !gone();
    },
  };
}
