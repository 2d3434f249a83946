/** Times of long requests, in milliseconds. Tests shorten them; both ends of a wire must agree. */
export interface BusTimings {
  /** Between two signs of life, in both directions. */
  heartbeatMs: number;
  /** Silence of the other side after which it counts as gone. */
  silenceMs: number;
  /** Between two looks for messages that the server has given up; a minute unless given. */
  scanMs?: number;
}
export const defaultTimings: BusTimings = { heartbeatMs: 5_000, silenceMs: 15_000 };

/** Where callers of long requests to a service say that they still wait; the last token is the call. */
export function keepAliveSubject(owner: string, call: string): string {
  return `nightshift.keepalive.v1.${owner}.${call}`;
}

/** Body of a keep-alive that says "I gave up"; an empty body says "still here". */
export const goneBody = new Uint8Array([1]);

/** A timer of Node fires at once above 2^31 - 1 ms. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(0, ms), 2_147_483_647);
}
