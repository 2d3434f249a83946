import { errorCodes, type NightshiftError } from '@nightshift/contracts';

/** What is known about a delivery. Times in milliseconds. */
export interface DeliveryFacts {
  /** The server's count; 1 = first. */
  delivery: number;
  /** Earlier deliveries that ended in an infrastructure fault or a drain, which prove nothing about the message. */
  uncounted: number;
  /** Counted deliveries a message may have. */
  limit: number;
  /** After this many the server gives it to nobody any more: it would lie in its queue for ever. */
  maxDeliver: number;
  ackWaitMs: number;
}

export type Opening = { do: 'handle' } | { do: 'deadLetter'; reason: string };

/** Decided at the start of a delivery: the server's own advisory comes with the next pull only, or never. */
export function openDelivery(facts: DeliveryFacts): Opening {
  const counted = facts.delivery - facts.uncounted;
  if (counted > facts.limit) return { do: 'deadLetter', reason: `${counted - 1} deliveries failed` };
  return { do: 'handle' };
}

export type Closing =
  | { do: 'ack'; outcome: 'ack' | 'fenced' }
  /** Back to the queue, always with a delay. */
  | { do: 'nak'; delayMs: number; counted: boolean }
  /** Kept here and tried again after the delay: one more nak would use up the last delivery the server grants. */
  | { do: 'hold'; delayMs: number };

/** The longest wait a hint of the other side can ask for. */
const longestHintMs = 300_000;

/** What is answered to the server once the handler is done (`fault` undefined) or has failed. */
export function closeDelivery(fault: NightshiftError | undefined, facts: DeliveryFacts): Closing {
  if (fault === undefined) return { do: 'ack', outcome: 'ack' };
  // The work was somebody else's, or is not wanted any more: nothing is left to do.
  if (fault.code === 'FENCED' || fault.code === 'CANCELLED') return { do: 'ack', outcome: 'fenced' };
  const { retryable, failedAttempt } = errorCodes[fault.code];
  const backoff = backoffMs(facts);
  if (!retryable || failedAttempt) return { do: 'nak', delayMs: backoff, counted: true };
  const delayMs = Math.min(longestHintMs, Math.max(backoff, fault.retryAfterMs));
  if (facts.delivery >= facts.maxDeliver - 1) return { do: 'hold', delayMs };
  return { do: 'nak', delayMs, counted: false };
}

/** Doubles from a thirtieth of ack_wait (1 s) up to ack_wait (30 s). */
function backoffMs({ delivery, ackWaitMs }: DeliveryFacts): number {
  return Math.min(ackWaitMs, Math.ceil(ackWaitMs / 30) * 2 ** Math.min(delivery - 1, 10));
}
