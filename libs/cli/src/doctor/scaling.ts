/** The compaction queue as the server sees it. */
export interface CompactionQueue {
  pending: number;
  inFlight: number;
  /** Requests for messages that wait at the server: one per worker with a free slot. */
  waitingPulls: number;
  oldestMs: number;
}

export interface Advice {
  /** ceil((pending + in flight) / slots), as the scaler of the chart computes it. */
  desired: number;
  words: string;
  /** False when passes wait and nobody takes them. */
  served: boolean;
}

/**
 * How many compactors the queue wants. A pass waits for a model nearly all of its time, so throughput grows with the number
 * of slots until a limit of the provider is reached. @param slots passes that one worker runs at once (COMPACTION_SLOTS)
 */
export function scalingAdvice({ pending, inFlight, waitingPulls, oldestMs }: CompactionQueue, slots: number): Advice {
  const due = pending + inFlight;
  const desired = Math.ceil(due / slots);
  const each = `one compactor runs ${counted(slots, 'pass', 'passes')} at a time`;
  if (due === 0) {
    const idle = waitingPulls > 0 ? `${counted(waitingPulls, 'worker waits', 'workers wait')} for work` : 'no worker is running';
    return { desired, served: true, words: `No pass is due and ${idle}: one compactor is enough, and zero would do.` };
  }
  const queue = `${counted(due, 'pass is', 'passes are')} due (${pending} waiting, ${inFlight} in flight, the oldest for ${seconds(oldestMs)})`;
  if (inFlight === 0 && waitingPulls === 0) {
    return {
      desired,
      served: false,
      words: `${queue} and nobody takes them: start ${counted(desired, 'compactor', 'compactors')}; ${each}.`,
    };
  }
  if (pending === 0) {
    return {
      desired,
      served: true,
      words: `${queue} and none waits: ${counted(desired, 'compactor is', 'compactors are')} enough; ${each}.`,
    };
  }
  if (waitingPulls > 0) {
    return {
      desired,
      served: true,
      words: `${queue}; a worker has free slots and is about to take what waits: ${counted(desired, 'compactor', 'compactors')} would hold all; ${each}.`,
    };
  }
  const busy = Math.ceil(inFlight / slots);
  return {
    desired,
    served: true,
    words: `${queue} and every slot is busy: scale from about ${busy} to ${counted(desired, 'compactor', 'compactors')}; ${each}.`,
  };
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
