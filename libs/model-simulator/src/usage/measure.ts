import type { ModelSpec } from '../config/model-spec';
import type { Segment } from '../conversation';
import { countTokens } from '../tokens/counter';

export interface Measured {
  readonly total: number;
  /** Tokens of the first n+1 segments. */
  readonly cumulative: readonly number[];
  /** Share of the tool schemas. */
  readonly tools: number;
}

/** Tokens as this vendor counts them: tokenizer times factor, a flat figure per image and per message. */
export function measure(segments: readonly Segment[], spec: ModelSpec, factor: number, hasTools: boolean): Measured {
  let sum = 0;
  const cumulative = segments.map((segment) => {
    sum +=
      Math.ceil(countTokens(segment.text) * factor) +
      segment.images * spec.imageTokens +
      (segment.message ? spec.perMessageTokens : 0);
    return sum;
  });
  return { total: sum, cumulative, tools: hasTools ? (cumulative[0] ?? 0) : 0 };
}
