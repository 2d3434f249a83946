import { renderHint } from './hints';
import { openai } from './openai';
import type { Problem, WireError } from './problem';
import type { Vendor, VendorContext } from './vendor';

/** Bedrock behind its OpenAI- or Anthropic-style routes: AWS exceptions as `message` with a type header. */
function refuse(problem: Problem, context: VendorContext): WireError {
  const say = (status: number, type: string, message: string, headers: Record<string, string> = {}): WireError => ({
    status,
    headers: { 'x-amzn-errortype': type, 'x-amzn-requestid': context.requestId, ...headers },
    body: { message, __type: type },
  });
  switch (problem.kind) {
    case 'overflow':
      return say(
        400,
        'ValidationException',
        problem.text ??
          (context.format === 'anthropic'
            ? `The model returned the following errors: prompt is too long: ${problem.input} tokens > ${problem.window} maximum`
            : `Too many input tokens. Max input tokens: ${problem.inputMax ?? problem.window}, request input token count: ${problem.input}`),
      );
    case 'output_cap':
      return say(
        400,
        'ValidationException',
        `The maximum tokens you requested exceeds the model limit of ${problem.cap}. Try again with a maximum tokens value that is lower than ${problem.cap}.`,
      );
    case 'rate_limit':
      return say(
        429,
        'ThrottlingException',
        'Too many tokens, please wait before trying again.',
        renderHint(problem.hint, context.nowMs).headers,
      );
    case 'quota':
      return say(429, 'ThrottlingException', 'Too many tokens per day, please wait before trying again.');
    case 'request_ceiling':
    case 'billing':
      return say(400, 'ServiceQuotaExceededException', 'Your request exceeds the service quota for your account.');
    case 'server_error':
      return say(
        500,
        'InternalServerException',
        'The system encountered an unexpected error during processing. Try your request again.',
      );
    case 'unavailable':
    case 'overloaded':
      return say(503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.');
    case 'gateway_timeout':
      return say(408, 'ModelTimeoutException', 'Model has timed out in processing the request. Try your request again.');
    case 'auth':
      return say(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.');
    case 'permission':
      return say(403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.");
    case 'model_not_found':
      return say(404, 'ResourceNotFoundException', 'Could not resolve the foundation model from the provided model identifier.');
    case 'content_filter':
      return say(400, 'ValidationException', 'The request was blocked by a guardrail.');
    case 'prefill_refused':
      return say(
        400,
        'ValidationException',
        'This model does not support assistant message prefill. The conversation must end with a user message.',
      );
    case 'too_large':
      return say(413, 'ValidationException', 'Request body is too large.');
    case 'invalid':
      return say(400, 'ValidationException', problem.message);
  }
}

export const bedrock: Vendor = { ...openai, refuse };
