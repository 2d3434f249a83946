import { transcript, type llm } from '@nightshift/contracts';
import { SpanKind, withSpan, type Metrics, type Span } from '@nightshift/metrics';
import type { Terminal } from '../core/gateway-event';

/** What the client metrics of the GenAI conventions are made of. */
export interface MeasuredCall {
  readonly provider: string;
  readonly model: string;
  readonly seconds: number;
  /** Empty = it succeeded. */
  readonly errorType: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Observes one logical call, its retries and fallbacks included. */
export function observeGenAi(metrics: Metrics, { provider, model, seconds, errorType, ...tokens }: MeasuredCall): void {
  const labels = { gen_ai_operation_name: 'chat', gen_ai_provider_name: provider, gen_ai_request_model: model };
  metrics.histogram('gen_ai_client_operation_duration_seconds').observe({ ...labels, error_type: errorType }, seconds);
  if (errorType !== '') return;
  const usage = metrics.histogram('gen_ai_client_token_usage');
  usage.observe({ ...labels, gen_ai_token_type: 'input' }, tokens.inputTokens);
  usage.observe({ ...labels, gen_ai_token_type: 'output' }, tokens.outputTokens);
}

/** One span per model call with the attributes of the GenAI conventions; sizes and names only, no content. */
export function tracedCall(
  request: llm.CompleteRequest,
  work: () => Promise<Terminal>,
  measured: (call: MeasuredCall) => void = () => undefined,
): Promise<Terminal> {
  const first = request.chain[Math.min(request.chainPosition, request.chain.length - 1)];
  const [provider, model] = [first?.provider ?? '', first?.model ?? ''];
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': request.maxOutputTokens,
    'gen_ai.conversation.id': request.taskId,
    'nightshift.purpose': request.purpose,
  };
  const began = performance.now();
  const traced = async (span: Span | undefined): Promise<Terminal> => {
    const last = await work();
    const usage = last.kind === 'failed' ? undefined : last.reply.usage;
    measured({
      provider,
      model,
      seconds: (performance.now() - began) / 1_000,
      errorType: last.kind === 'failed' ? last.error.code : '',
      inputTokens: usage?.inputTotal ?? 0,
      outputTokens: usage?.outputTotal ?? 0,
    });
    if (!span) return last;
    if (last.kind === 'failed') {
      span.setAttributes({ 'error.type': last.error.code, 'nightshift.attempts': last.attempts.length });
      return last;
    }
    const { reply } = last;
    span.setAttributes({
      'gen_ai.response.model': reply.model,
      'gen_ai.response.finish_reasons': [(transcript.StopReason[reply.message?.stopReason ?? 0] ?? '').toLowerCase()],
      'gen_ai.usage.input_tokens': usage?.inputTotal ?? 0,
      'gen_ai.usage.output_tokens': usage?.outputTotal ?? 0,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheRead ?? 0,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWrite ?? 0,
      'nightshift.attempts': reply.attempts.length,
      'nightshift.fallbacks': reply.fallbacks.length,
    });
    return last;
  };
  return withSpan(`chat ${model}`, attributes, traced, { kind: SpanKind.CLIENT });
}
