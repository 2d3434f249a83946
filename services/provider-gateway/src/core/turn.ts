import type { llm, NightshiftError } from '@nightshift/contracts';
import type { Provider } from '../providers/provider';
import type { CandidateFailure } from './failed-call';

/** Where a call stands; one per call, threaded through its candidates. */
export interface Progress {
  attempts: llm.Attempt[];
  fallbacks: llm.Fallback[];
  failures: CandidateFailure[];
  startedAt: number;
}

/** One candidate's turn. */
export interface Turn {
  candidate: llm.Candidate;
  position: number;
  provider: Provider;
  /** 0 = the candidate that the caller chose and measured for. */
  index: number;
  isLast: boolean;
}

export type TurnEnd = { end: 'finished'; reply: llm.CompleteReply } | { end: 'next' } | { end: 'failed'; error: NightshiftError };
