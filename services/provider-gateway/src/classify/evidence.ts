import type { TransportFault } from '../transport/fault';
import type { Envelope } from './envelope';
import type { SizeMatch } from './sizes';
import type { HeaderMap } from './waiting-hint';

/** Everything that a rule may look at. Message digits are no evidence: only structured codes and whole phrases are. */
export interface Evidence {
  /** HTTP status; 0 when there was no answer. */
  status: number;
  /** The HTTP status where it is an error, else the one inside the body. */
  effectiveStatus: number;
  headers: HeaderMap;
  /** Arrived inside a 2xx answer. */
  inBand: boolean;
  envelope: Envelope;
  /** code, type and marks in one list, for exact comparison. */
  labels: readonly string[];
  message: string;
  bodyIsEmpty: boolean;
  sizes: SizeMatch | undefined;
  waitMs: number | undefined;
  /** The vendor answers an overflow with a bare status (Cerebras). */
  emptyBodyMeansOverflow: boolean;
  fault: TransportFault | undefined;
}
