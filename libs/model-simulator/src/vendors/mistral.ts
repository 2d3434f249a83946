import { renderHint } from './hints';
import { openai } from './openai';
import type { Problem, WireError } from './problem';
import type { Vendor, VendorContext } from './vendor';

function refuse(problem: Problem, context: VendorContext): WireError {
  const say = (
    status: number,
    type: string,
    message: string,
    code: string | null = null,
    headers: Record<string, string> = {},
  ): WireError => ({
    status,
    headers,
    body: { object: 'error', message, type, param: null, code },
  });
  switch (problem.kind) {
    case 'overflow':
      return say(
        400,
        'invalid_request_prompt',
        problem.text ??
          `Prompt contains ${problem.input} tokens and 0 draft tokens, too large for model with ${problem.window} maximum context length`,
        '3051',
      );
    case 'output_cap':
      return say(
        400,
        'invalid_request_prompt',
        `Prompt contains ${problem.input} tokens and 0 draft tokens, too large for model with ${problem.window} maximum context length`,
        '3051',
      );
    case 'rate_limit':
      return say(429, 'rate_limited', 'Rate limit exceeded', '1300', renderHint(problem.hint, context.nowMs).headers);
    case 'overloaded':
    case 'unavailable':
      // The type misleads: nothing is wrong with the request.
      return say(429, 'invalid_request_error', 'Service tier capacity exceeded for this model.', '3505');
    case 'quota':
    case 'billing':
    case 'request_ceiling':
      return say(402, 'payment_required', 'Payment required: the monthly limit of this workspace is used up.');
    case 'server_error':
    case 'gateway_timeout':
      return say(500, 'internal_server_error', 'Service unavailable.');
    case 'auth':
      return { status: 401, headers: {}, body: { message: 'Unauthorized', request_id: context.requestId } };
    case 'permission':
      return say(403, 'access_denied', 'Access denied');
    case 'model_not_found':
      return say(400, 'invalid_model', `Invalid model: ${context.model}`, '1500');
    case 'content_filter':
      return say(400, 'moderation', 'The input was refused by moderation.');
    case 'prefill_refused':
      return say(
        400,
        'invalid_request_message_order',
        'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
        '3230',
      );
    case 'too_large':
      return say(413, 'invalid_request_error', 'Request too large');
    case 'invalid':
      return say(
        400,
        problem.code === '3230' ? 'invalid_request_message_order' : 'invalid_request_error',
        problem.message,
        problem.code,
      );
  }
}

/** Mistral: usage on the finish chunk without being asked; call ids of nine letters and digits. */
export const mistral: Vendor = {
  ...openai,
  refuse,
  usage: { inStream: 'finish', excludesReasoning: false, cached: 'none' },
  history: 'mistral',
  capsOutput: false,
};
