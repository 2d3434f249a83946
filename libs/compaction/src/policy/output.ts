export interface OutputInput {
  readonly window: number;
  /** Configured max output tokens; 0 = none configured. */
  readonly maxOutput: number;
  /** The model's own output limit; 0 = unknown. */
  readonly outputMax?: number;
  /** Measured input tokens. */
  readonly measured: number;
  /** The provider refuses a request without the field. */
  readonly mandatory: boolean;
}

export interface OutputPlan {
  /** What to send as max output tokens; absent = leave the field out. */
  readonly tokens?: number;
  /** The room left would cut the answer short: compact before sending. */
  readonly compactFirst: boolean;
  /** Room left for output, in tokens; may be negative. */
  readonly room: number;
}

/**
 * How much output a request may ask for, so that input and output always fit the window together. The margin of
 * max(1 024, 2 %) covers what the provider counts and we do not see (message overhead, another tokenizer).
 */
export function outputToSend(input: OutputInput): OutputPlan {
  const cap = input.outputMax && input.outputMax > 0 ? input.outputMax : Number.POSITIVE_INFINITY;
  const room = input.window - input.measured - Math.max(1_024, Math.floor(input.measured / 50));
  const wanted = input.maxOutput > 0 ? Math.min(input.maxOutput, cap) : Math.min(Math.floor(input.window / 2), cap);
  const least = Math.min(4_096, Math.floor(input.window / 8), wanted);
  const compactFirst = room < least;
  if (input.maxOutput === 0 && !input.mandatory) return { compactFirst, room };
  return { tokens: Math.max(0, Math.min(wanted, room)), compactFirst, room };
}
