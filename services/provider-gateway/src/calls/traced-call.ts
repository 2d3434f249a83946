import { transcript, type llm } from '@nightshift/contracts';
import { withSpan } from '@nightshift/metrics';
import type { Terminal } from '../core/gateway-event';

/** One span per model call with the attributes of the GenAI conventions; sizes and names only, no content. */
export function tracedCall(request: llm.CompleteRequest, work: () => Promise<Terminal>): Promise<Terminal> {
  const first = request.chain[Math.min(request.chainPosition, request.chain.length - 1)];
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': first?.provider ?? '',
    'gen_ai.request.model': first?.model ?? '',
    'gen_ai.request.max_tokens': request.maxOutputTokens,
    'nightshift.purpose': request.purpose,
  };
  return withSpan(`chat ${first?.model ?? ''}`, attributes, async (span) => {
    const last = await work();
    if (!span) return last;
    if (last.kind === 'failed') {
      span.setAttributes({ 'error.type': last.error.code, 'nightshift.attempts': last.attempts.length });
      return last;
    }
    const { reply } = last;
    span.setAttributes({
      'gen_ai.response.model': reply.model,
      'gen_ai.response.finish_reasons': [(transcript.StopReason[reply.message?.stopReason ?? 0] ?? '').toLowerCase()],
      'gen_ai.usage.input_tokens': reply.usage?.inputTotal ?? 0,
      'gen_ai.usage.output_tokens': reply.usage?.outputTotal ?? 0,
      'gen_ai.usage.cache_read.input_tokens': reply.usage?.cacheRead ?? 0,
      'gen_ai.usage.cache_creation.input_tokens': reply.usage?.cacheWrite ?? 0,
      'nightshift.attempts': reply.attempts.length,
      'nightshift.fallbacks': reply.fallbacks.length,
    });
    return last;
  });
}
