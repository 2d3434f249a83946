import { countOf, objectAt, type JsonObject } from '../../classify/json';
import type { UsageNumbers } from '../../usage/normal-usage';

/** `prompt_tokens` includes cached ones. DeepSeek gives hits and misses, which add up to it. */
export function usageNumbers(raw: JsonObject): UsageNumbers {
  const promptDetails = objectAt(raw, 'prompt_tokens_details');
  const hit = countOf(raw.prompt_cache_hit_tokens);
  const miss = countOf(raw.prompt_cache_miss_tokens);
  return {
    inputTotal: countOf(raw.prompt_tokens) ?? (hit !== undefined && miss !== undefined ? hit + miss : undefined),
    cacheRead: countOf(promptDetails.cached_tokens) ?? hit,
    cacheWrite: countOf(promptDetails.cache_write_tokens) ?? countOf(raw.cache_creation_input_tokens),
    outputTotal: countOf(raw.completion_tokens),
    reasoning: countOf(objectAt(raw, 'completion_tokens_details').reasoning_tokens) ?? countOf(raw.reasoning_tokens),
    total: countOf(raw.total_tokens),
  };
}
