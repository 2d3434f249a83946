import { countOf, type JsonObject } from '../../classify/json';
import type { UsageNumbers } from '../../usage/normal-usage';

/** Only the last line has figures; builds before mid 2026 leave cached prompt tokens out or drop the field altogether. */
export function usageNumbers(raw: JsonObject): UsageNumbers {
  return {
    inputTotal: countOf(raw.prompt_eval_count),
    cacheRead: countOf(raw.prompt_eval_cached_count),
    outputTotal: countOf(raw.eval_count),
  };
}
