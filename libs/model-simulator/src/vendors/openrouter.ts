import { renderHint } from './hints';
import { openai } from './openai';
import type { Problem, WireError } from './problem';
import type { Vendor, VendorContext } from './vendor';

interface Told {
  readonly code: number;
  readonly message: string;
  readonly metadata?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

function tell(problem: Problem, context: VendorContext): Told {
  switch (problem.kind) {
    case 'overflow': {
      const { input, output, tools, window } = problem;
      const message =
        problem.text ??
        `This endpoint's maximum context length is ${window} tokens. However, you requested about ${input + output} tokens (${input - tools} of text input, ${tools} of tool input, ${output} in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.`;
      return { code: 400, message, metadata: { provider_name: null } };
    }
    case 'output_cap':
      return {
        code: 400,
        message: `max_tokens is too large: at most ${problem.cap} are supported.`,
        metadata: { error_type: 'max_tokens_exceeded' },
      };
    case 'rate_limit':
      return { code: 429, message: 'Rate limit exceeded', headers: renderHint(problem.hint, context.nowMs).headers };
    case 'quota':
      return { code: 403, message: 'Key limit exceeded (daily limit).', metadata: { limit_source: 'key' } };
    case 'billing':
    case 'request_ceiling':
      return {
        code: 402,
        message: 'This request requires more credits, or fewer max_tokens.',
        metadata: { error_type: 'payment_required' },
      };
    case 'server_error':
      return { code: 502, message: 'Provider returned error', metadata: { provider_name: 'Simulated', raw: 'Internal error' } };
    case 'unavailable':
    case 'overloaded':
      return { code: 503, message: 'Provider overloaded', metadata: { error_type: 'provider_overloaded' } };
    case 'gateway_timeout':
      return { code: 504, message: 'Provider timed out', metadata: { error_type: 'timeout' } };
    case 'auth':
      return { code: 401, message: 'No auth credentials found' };
    case 'permission':
    case 'content_filter':
      return { code: 403, message: 'Your input was flagged.', metadata: { reasons: ['simulated'], provider_name: 'Simulated' } };
    case 'model_not_found':
      return { code: 400, message: `${context.model} is not a valid model ID` };
    case 'prefill_refused':
      return {
        code: 400,
        message: 'Provider returned error',
        metadata: {
          raw: 'This model does not support assistant message prefill. The conversation must end with a user message.',
        },
      };
    case 'too_large':
      return { code: 413, message: 'Request Entity Too Large' };
    case 'invalid':
      return { code: 400, message: 'Provider returned error', metadata: { raw: problem.message, provider_name: 'Simulated' } };
  }
}

/** OpenRouter: numeric codes, the upstream's own text in metadata; an error in a stream is a chunk with a finish reason. */
export const openrouter: Vendor = {
  ...openai,
  preamble: ': OPENROUTER PROCESSING\n\n',
  capsOutput: false,
  usage: { inStream: 'finish', excludesReasoning: false, cached: 'details', extra: 'cost' },
  refuse: (problem, context): WireError => {
    const { code, message, metadata, headers = {} } = tell(problem, context);
    return {
      status: code,
      headers,
      body: { error: { code, message, ...(metadata === undefined ? {} : { metadata }) }, user_id: 'user_sim' },
    };
  },
  inStream: (problem, context) => {
    const { code, message, metadata = {} } = tell(problem, context);
    return {
      id: context.requestId,
      object: 'chat.completion.chunk',
      model: context.model,
      error: { code, message, metadata },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    };
  },
};
