import type { task } from '@nightshift/contracts';
import type { StoredReceipt } from '../tasks/task-details';

/** Which parties must say that nothing runs any more. */
export interface StopNeeds {
  /** A model call may have been open. */
  readonly gateway: boolean;
  /** Runners that hold a workspace or started a call, by id. */
  readonly runners: readonly string[];
  /** A pass was claimed by a worker. */
  readonly compactor: boolean;
}

export const emptyReceipt = (askedAt: number): StoredReceipt => ({
  askedAt,
  lastProviderByte: 0,
  upstreamClosed: 0,
  callsStartedAfter: 0,
  tokensBilled: 0,
  processesEnded: 0,
  complete: false,
  completedAt: 0,
  confirmations: [],
});

/**
 * Adds one round of answers to the receipt. It is complete when every needed party said that nothing runs there, and
 * nobody said the contrary in this round.
 */
export function foldStop(
  before: StoredReceipt,
  needs: StopNeeds,
  replies: readonly task.StopReply[],
  now: number,
): StoredReceipt {
  const idle = replies.filter((reply) => reply.idle).map(({ party, instance }) => `${party}/${instance}`);
  const busy = replies.some((reply) => !reply.idle);
  const confirmations = [...new Set([...before.confirmations, ...idle])].sort();
  const has = (party: string): boolean => confirmations.some((confirmed) => confirmed.startsWith(`${party}/`));
  const complete =
    !busy &&
    (!needs.gateway || has('provider-gateway')) &&
    (!needs.compactor || has('compactor')) &&
    needs.runners.every((runner) => confirmations.includes(`tool-runner/${runner}`));
  const latest = (of: (reply: task.StopReply) => bigint): number => Math.max(...replies.map((reply) => Number(of(reply))), 0);
  return {
    ...before,
    lastProviderByte: Math.max(
      before.lastProviderByte,
      latest((reply) => reply.lastProviderByteMs),
    ),
    upstreamClosed: Math.max(
      before.upstreamClosed,
      latest((reply) => reply.upstreamClosedMs),
    ),
    // Parties report what they stopped once; a repeated question adds nothing.
    tokensBilled:
      before.tokensBilled + replies.reduce((sum, reply) => sum + (reply.stopped > 0 ? Number(reply.tokensBilled) : 0), 0),
    processesEnded: before.processesEnded + replies.reduce((sum, reply) => sum + reply.processesEnded, 0),
    complete,
    completedAt: complete ? now : 0,
    confirmations,
  };
}
