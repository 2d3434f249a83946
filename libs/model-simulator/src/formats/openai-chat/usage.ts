import type { Usage } from '../../answer';
import type { UsageStyle } from '../../vendors/vendor';

/** Usage in OpenAI's shape with the vendor's deviations. */
export function chatUsage(usage: Usage, style: UsageStyle): Record<string, unknown> {
  const completion = style.excludesReasoning ? usage.output - usage.reasoning : usage.output;
  const base = { prompt_tokens: usage.input, completion_tokens: completion, total_tokens: usage.input + usage.output };
  const reasoning = { completion_tokens_details: { reasoning_tokens: usage.reasoning } };
  const extra = style.extra === 'cost' ? { cost: 0 } : {};
  switch (style.cached) {
    case 'details':
      return { ...base, prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0 }, ...reasoning, ...extra };
    case 'hit_miss':
      return {
        ...base,
        prompt_tokens_details: { cached_tokens: usage.cacheRead },
        ...reasoning,
        prompt_cache_hit_tokens: usage.cacheRead,
        prompt_cache_miss_tokens: usage.input - usage.cacheRead,
      };
    case 'none':
      return { ...base, ...extra };
  }
}
