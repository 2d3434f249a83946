export const POLL_SETTINGS = Symbol('POLL_SETTINGS');

/** Times in milliseconds. */
export interface PollSettings {
  everyMs: number;
  listEveryMs: number;
  timeoutMs: number;
  maxBytes: number;
  republishEveryMs: number;
  leaseRetryMs: number;
}
