import { duration, renderHint } from './hints';
import type { Problem, WireError } from './problem';
import { openAiUsage, type Vendor, type VendorContext } from './vendor';

export interface OpenAiError {
  readonly message: string;
  readonly type: string | null;
  readonly param?: string | null;
  readonly code?: string | number | null;
  readonly [field: string]: unknown;
}

/** OpenAI's envelope. */
export function openAiError(status: number, error: OpenAiError, headers: Record<string, string> = {}): WireError {
  const { message, type, param = null, code = null, ...more } = error;
  return { status, headers, body: { error: { message, type, param, code, ...more } } };
}

/** OpenAI's wording for chat completions and, where it differs, for Responses. */
export function refuseAsOpenAi(problem: Problem, context: VendorContext): WireError {
  const request = (error: Omit<OpenAiError, 'type'> & { type?: string }, status = 400): WireError =>
    openAiError(status, { type: 'invalid_request_error', ...error } as OpenAiError, { 'x-request-id': context.requestId });
  switch (problem.kind) {
    case 'overflow':
      return request({
        message: problem.text ?? overflowText(problem, context),
        param: context.format === 'openai-responses' ? 'input' : 'messages',
        code: 'context_length_exceeded',
      });
    case 'output_cap':
      return request({
        message: `max_tokens is too large: ${problem.requested}. This model supports at most ${problem.cap} completion tokens, whereas you provided ${problem.requested}.`,
        param: context.format === 'openai-responses' ? 'max_output_tokens' : 'max_tokens',
        code: 'invalid_value',
      });
    case 'rate_limit': {
      const hint = renderHint(problem.hint, context.nowMs);
      return openAiError(
        429,
        {
          message: `Rate limit reached for ${context.model} in organization org-simulated on requests per min (RPM): Limit 500, Used 500, Requested 1.${hint.text}`,
          type: 'requests',
          code: 'rate_limit_exceeded',
          ...hint.fields,
        },
        {
          'x-ratelimit-limit-requests': '500',
          'x-ratelimit-remaining-requests': '0',
          ...(problem.hint?.form === 'none' || problem.hint === undefined
            ? {}
            : { 'x-ratelimit-reset-requests': duration(problem.hint.seconds) }),
          ...hint.headers,
        },
      );
    }
    case 'quota':
      return openAiError(429, {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      });
    case 'request_ceiling':
      return openAiError(429, {
        message: `Request too large for ${context.model} in organization org-simulated on tokens per min (TPM): Limit ${problem.limit}, Requested ${problem.requested}. The input or output tokens must be reduced in order to run successfully.`,
        type: 'tokens',
        code: 'rate_limit_exceeded',
      });
    case 'billing':
      return openAiError(429, {
        message: 'Your credit balance is exhausted.',
        type: 'insufficient_quota',
        code: 'credit_balance_exhausted',
      });
    case 'server_error':
      return openAiError(500, {
        message: `The server had an error while processing your request. Sorry about that! (request ${context.requestId})`,
        type: 'server_error',
      });
    case 'unavailable':
      return openAiError(
        503,
        {
          message: 'The server is currently overloaded with other requests.',
          type: 'service_unavailable_error',
          code: 'server_is_overloaded',
        },
        renderHint(problem.hint, context.nowMs).headers,
      );
    case 'overloaded':
      return openAiError(503, {
        message: 'The engine is currently overloaded, please try again later.',
        type: 'server_error',
        code: 'server_is_overloaded',
      });
    case 'gateway_timeout':
      return {
        status: 504,
        headers: { 'content-type': 'text/html' },
        body: '<html><body><h1>504 Gateway Time-out</h1></body></html>',
      };
    case 'auth':
      return request({ message: 'Incorrect API key provided.', code: 'invalid_api_key' }, 401);
    case 'permission':
      return request({ message: 'You have insufficient permissions for this operation.', code: 'insufficient_permissions' }, 403);
    case 'model_not_found':
      return request(
        { message: `The model \`${context.model}\` does not exist or you do not have access to it.`, code: 'model_not_found' },
        404,
      );
    case 'content_filter':
      return request({
        message:
          'The response was filtered due to the prompt triggering the content management policy. Please modify your prompt and retry.',
        param: 'prompt',
        code: 'content_filter',
      });
    case 'prefill_refused':
      return request({
        message: 'This model does not support assistant message prefill. The conversation must end with a user message.',
      });
    case 'too_large':
      return request({ message: `Request body is too large: ${problem.bytes} bytes, limit ${problem.limit}.` }, 413);
    case 'invalid':
      return request({ message: problem.message, param: problem.param ?? null, code: problem.code ?? null });
  }
}

function overflowText(problem: Extract<Problem, { kind: 'overflow' }>, context: VendorContext): string {
  const { input, output, window, inputMax, tools } = problem;
  if (context.format === 'openai-responses')
    return 'Your input exceeds the context window of this model. Please adjust your input and try again.';
  if (inputMax !== undefined && input > inputMax)
    return `Input tokens exceed the configured limit of ${inputMax} tokens. Your messages resulted in ${input} tokens. Please reduce the length of the messages.`;
  if (output === 0)
    return `This model's maximum context length is ${window} tokens. However, your messages resulted in ${input} tokens. Please reduce the length of the messages.`;
  const parts =
    tools > 0
      ? `(${input - tools} in the messages, ${tools} in the functions, and ${output} in the completion)`
      : `(${input} in the messages, ${output} in the completion)`;
  return `This model's maximum context length is ${window} tokens. However, you requested ${input + output} tokens ${parts}. Please reduce the length of the messages or completion.`;
}

export const openai: Vendor = {
  refuse: refuseAsOpenAi,
  usage: openAiUsage,
  history: 'openai',
  capsOutput: true,
  reservesOutput: true,
  needsKey: true,
};
