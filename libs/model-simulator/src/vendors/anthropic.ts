import { renderHint } from './hints';
import type { Problem, WireError } from './problem';
import { openAiUsage, type Vendor, type VendorContext } from './vendor';

/** Anthropic's wording; the envelope carries the request id. */
function refuse(problem: Problem, context: VendorContext): WireError {
  const say = (
    status: number,
    type: string,
    message: string,
    headers: Record<string, string> = {},
    details?: unknown,
  ): WireError => ({
    status,
    headers: { 'request-id': context.requestId, ...headers },
    body: {
      type: 'error',
      error: { type, message, ...(details === undefined ? {} : { details }) },
      request_id: context.requestId,
    },
  });
  switch (problem.kind) {
    case 'overflow':
      if (problem.text !== undefined) return say(400, 'invalid_request_error', problem.text);
      return problem.input > problem.window || problem.output === 0
        ? say(400, 'invalid_request_error', `prompt is too long: ${problem.input} tokens > ${problem.window} maximum`)
        : say(
            400,
            'invalid_request_error',
            `input length and \`max_tokens\` exceed context limit: ${problem.input} + ${problem.output} > ${problem.window}, decrease input length or \`max_tokens\` and try again`,
          );
    case 'output_cap':
      return say(
        400,
        'invalid_request_error',
        `max_tokens: ${problem.requested} > ${problem.cap}, which is the maximum allowed number of output tokens for ${context.model}`,
      );
    case 'rate_limit': {
      const hint = renderHint(problem.hint, context.nowMs);
      return say(
        429,
        'rate_limit_error',
        `This request would exceed your organization's rate limit. Please reduce the prompt length or the maximum tokens requested, or try again later.${hint.text}`,
        hint.headers,
      );
    }
    case 'quota':
      return say(
        429,
        'rate_limit_error',
        'This request would exceed your enforced spend limit.',
        {},
        { error_code: 'enforced_spend_limit_reached' },
      );
    case 'request_ceiling':
      return say(429, 'rate_limit_error', 'Extra usage is required for long context requests.');
    case 'billing':
      return say(
        400,
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      );
    case 'server_error':
      return say(500, 'api_error', 'Internal server error');
    case 'unavailable':
      return say(503, 'api_error', 'Service unavailable', renderHint(problem.hint, context.nowMs).headers);
    case 'overloaded':
      return say(529, 'overloaded_error', 'Overloaded');
    case 'gateway_timeout':
      return say(504, 'timeout_error', 'Request timed out');
    case 'auth':
      return say(401, 'authentication_error', 'invalid x-api-key');
    case 'permission':
      return say(403, 'permission_error', 'Your API key does not have permission to use the specified resource.');
    case 'model_not_found':
      return say(404, 'not_found_error', `model: ${context.model}`);
    case 'content_filter':
      return say(400, 'invalid_request_error', 'Output blocked by content filtering policy');
    case 'prefill_refused':
      return say(
        400,
        'invalid_request_error',
        'This model does not support assistant message prefill. The conversation must end with a user message.',
      );
    case 'too_large':
      return say(413, 'request_too_large', 'Request exceeds the maximum size');
    case 'invalid':
      return say(400, 'invalid_request_error', problem.message);
  }
}

export const anthropic: Vendor = {
  refuse,
  usage: openAiUsage,
  history: 'anthropic',
  capsOutput: true,
  reservesOutput: true,
  needsKey: true,
};
