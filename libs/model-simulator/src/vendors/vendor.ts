import type { FormatName } from '../config/model-spec';
import type { Problem, WireError } from './problem';

export interface VendorContext {
  readonly model: string;
  readonly format: FormatName;
  readonly requestId: string;
  readonly nowMs: number;
}

/** How usage appears in OpenAI-shaped answers of this vendor. */
export interface UsageStyle {
  /** asked: only with stream_options.include_usage, in an own last chunk · finish: always, on the finish chunk · every: on each chunk. */
  readonly inStream: 'asked' | 'finish' | 'every';
  /** completion_tokens leaves reasoning tokens out (total counts them). */
  readonly excludesReasoning: boolean;
  /** details: prompt_tokens_details.cached_tokens · hit_miss: DeepSeek's pair of fields · none: not told. */
  readonly cached: 'details' | 'hit_miss' | 'none';
  /** Groq repeats usage under x_groq in the last chunk. */
  readonly extra?: 'x_groq' | 'timings' | 'cost';
}

/** Rules for histories in the OpenAI chat format that differ between vendors. */
export type HistoryRules = 'openai' | 'mistral' | 'gemini' | 'deepseek' | 'anthropic' | 'lenient';

export interface Vendor {
  readonly refuse: (problem: Problem, context: VendorContext) => WireError;
  /** The object inside an in-stream error frame, after status 200. */
  readonly inStream?: (problem: Problem, context: VendorContext) => unknown;
  readonly usage: UsageStyle;
  readonly history: HistoryRules;
  /** Whether an output above the cap is refused; some servers just stop at the wall. */
  readonly capsOutput: boolean;
  /** Whether the requested output counts against the window when a request is checked. */
  readonly reservesOutput: boolean;
  /** A request without any key is refused; local servers take any. */
  readonly needsKey: boolean;
  /** A prompt above the window is cut without a word unless the request forbids it. */
  readonly truncates?: boolean;
  /** What a chat stream begins with before its first real chunk: comments, filter results. */
  readonly preamble?: string;
  /** Name of the event of an in-stream error in a chat stream; usually none. */
  readonly errorEvent?: string;
  /** An overflow is told inside the stream, after status 200. */
  readonly refusesInStream?: boolean;
}

export const openAiUsage: UsageStyle = { inStream: 'asked', excludesReasoning: false, cached: 'details' };
