import { openai } from './openai';
import type { Problem, WireError } from './problem';
import type { Vendor, VendorContext } from './vendor';

export function engineError(status: number, type: string, message: string, param: string | null = null): WireError {
  return { status, headers: {}, body: { error: { message, type, param, code: status } } };
}

/** What self-hosted engines have in common: no keys, no quotas, few kinds of errors. */
export function refuseAsEngine(problem: Problem, context: VendorContext): WireError {
  switch (problem.kind) {
    case 'overflow':
      return engineError(
        400,
        'BadRequestError',
        problem.text ??
          `This model's maximum context length is ${problem.window} tokens. However, you requested ${problem.output} output tokens and your prompt contains at least ${Math.min(problem.input, problem.window - problem.output + 1)} input tokens, for a total of at least ${Math.max(problem.window + 1, Math.min(problem.input, problem.window - problem.output + 1) + problem.output)} tokens. Please reduce the length of the input prompt or the number of requested output tokens.`,
        'input_tokens',
      );
    case 'output_cap':
      return engineError(
        400,
        'BadRequestError',
        `'max_tokens' or 'max_completion_tokens' is too large: ${problem.requested}. This model's maximum context length is ${problem.window} tokens and your request has ${problem.input} input tokens (${problem.requested} > ${problem.window} - ${problem.input}).`,
        'max_tokens',
      );
    case 'model_not_found':
      return engineError(404, 'NotFoundError', `The model \`${context.model}\` does not exist.`, 'model');
    case 'auth':
    case 'permission':
      return { status: 401, headers: {}, body: { error: 'Unauthorized' } };
    case 'rate_limit':
    case 'quota':
    case 'billing':
    case 'request_ceiling':
      return engineError(429, 'RateLimitError', 'Too many requests.');
    case 'unavailable':
    case 'overloaded':
      return engineError(503, 'ServiceUnavailableError', 'The engine is not ready.');
    case 'gateway_timeout':
      return { status: 504, headers: { 'content-type': 'text/plain' }, body: 'upstream request timeout' };
    case 'server_error':
      return engineError(500, 'InternalServerError', 'EngineCore encountered an issue. See stack trace for the root cause.');
    case 'content_filter':
      return engineError(400, 'BadRequestError', 'The request was blocked.');
    case 'prefill_refused':
      return engineError(
        400,
        'BadRequestError',
        'Cannot set `add_generation_prompt` to True when the last message is from the assistant.',
      );
    case 'too_large':
      return engineError(413, 'BadRequestError', 'Request entity too large');
    case 'invalid':
      return engineError(400, 'BadRequestError', problem.message, problem.param ?? null);
  }
}

/** vLLM: refuses instead of lowering the output; the prompt figure of its text is a lower bound. */
export const vllm: Vendor = {
  ...openai,
  refuse: refuseAsEngine,
  usage: { inStream: 'asked', excludesReasoning: false, cached: 'none' },
  capsOutput: false,
  needsKey: false,
};
