import { isNightshiftError, NightshiftError } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';

/** A model that may write the summary. */
export interface Summarizer {
  readonly provider: string;
  readonly model: string;
  readonly window: number;
  /** 0 = none of its own. */
  readonly inputMax: number;
  /** 0 = unknown. */
  readonly outputMax: number;
}

export interface SummaryCall {
  /** append: instruction after the unchanged request. chunk, reduce: map-reduce. text: the transcript as data, shortened. */
  readonly kind: 'append' | 'chunk' | 'reduce' | 'text';
  readonly attempt: number;
  /** The whole request; tools are only there to keep the provider's prompt cache, and must not be called. */
  readonly view: transcript.View;
  readonly maxOutputTokens: number;
  /** Input tokens by the pass's own counter. */
  readonly inputTokens: number;
  /** Who may answer, in this order. */
  readonly candidates: readonly Summarizer[];
  readonly timeoutMs: number;
}

export interface CondenseCall {
  readonly view: transcript.View;
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
}

export interface StoreItem {
  /** Chosen by the caller: putting the same item again is the same record. */
  readonly id: string;
  readonly content: Uint8Array;
  readonly mediaType: string;
  readonly tool: string;
  readonly callId: string;
}

/** Where what a pass hides is kept. The ladder puts, reads back and compares before it hides anything. */
export interface ContentStore {
  put(item: StoreItem): Promise<transcript.StoredReference>;
  get(id: string): Promise<Uint8Array>;
}

/** What a pass needs from outside. All time comes from `clock`. */
export interface LadderPorts {
  /** Absent = the summary tier is skipped. A rejection is a failed summary. */
  summarize?(call: SummaryCall): Promise<transcript.AssistantMessage>;
  /** The small local model; absent = the on_device tier is skipped. */
  condense?(call: CondenseCall): Promise<string>;
  readonly store: ContentStore;
  /** Milliseconds; only differences are used. */
  clock(): number;
  readonly signal?: AbortSignal;
  /** Called before each tier, so that a caller can show and measure progress. */
  onTier?(tier: TierName): void;
}

export type TierName = 'summary' | 'micro' | 'images' | 'on_device' | 'prune';

/** What a stopped pass ends with: the reason its caller gave (stop of the task, shutdown), since the two are answered differently. */
export function stopReason(signal: AbortSignal): NightshiftError {
  const { reason } = signal as { reason: unknown };
  return isNightshiftError(reason) ? reason : new NightshiftError('CANCELLED', 'the pass was stopped', { cause: reason });
}
