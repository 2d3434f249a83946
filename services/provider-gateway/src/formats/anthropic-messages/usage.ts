import { countOf, objectAt, type JsonObject } from '../../classify/json';
import type { UsageNumbers } from '../../usage/normal-usage';

/** `input_tokens` leaves both cache figures out: the total is the sum of the three. `output_tokens` includes thinking. */
export function usageNumbers(raw: JsonObject): UsageNumbers {
  const fresh = countOf(raw.input_tokens);
  const cacheRead = countOf(raw.cache_read_input_tokens);
  const cacheWrite = countOf(raw.cache_creation_input_tokens);
  return {
    inputTotal: fresh === undefined ? undefined : fresh + (cacheRead ?? 0) + (cacheWrite ?? 0),
    cacheRead,
    cacheWrite,
    outputTotal: countOf(raw.output_tokens),
    reasoning: countOf(objectAt(raw, 'output_tokens_details').thinking_tokens),
  };
}
