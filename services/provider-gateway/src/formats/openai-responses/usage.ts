import { countOf, objectAt, type JsonObject } from '../../classify/json';
import type { UsageNumbers } from '../../usage/normal-usage';

/** `input_tokens` includes cached ones, `output_tokens` includes reasoning. */
export function usageNumbers(raw: JsonObject): UsageNumbers {
  const inputDetails = objectAt(raw, 'input_tokens_details');
  return {
    inputTotal: countOf(raw.input_tokens),
    cacheRead: countOf(inputDetails.cached_tokens),
    cacheWrite: countOf(inputDetails.cache_write_tokens),
    outputTotal: countOf(raw.output_tokens),
    reasoning: countOf(objectAt(raw, 'output_tokens_details').reasoning_tokens),
    total: countOf(raw.total_tokens),
  };
}
