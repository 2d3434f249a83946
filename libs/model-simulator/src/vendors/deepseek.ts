import { openai, openAiError, refuseAsOpenAi } from './openai';
import type { Vendor } from './vendor';

/** DeepSeek: OpenAI's texts, its own codes; the cap on the output is named as a range. */
export const deepseek: Vendor = {
  ...openai,
  preamble: ': keep-alive\n\n',
  usage: { inStream: 'asked', excludesReasoning: false, cached: 'hit_miss' },
  history: 'deepseek',
  refuse: (problem, context) => {
    const invalid = (message: string): ReturnType<typeof openAiError> =>
      openAiError(400, { message, type: 'invalid_request_error', code: 'invalid_request_error' });
    switch (problem.kind) {
      case 'overflow':
        return invalid(
          problem.text ??
            `This model's maximum context length is ${problem.window} tokens. However, you requested ${problem.input + problem.output} tokens (${problem.input} in the messages, ${problem.output} in the completion). Please reduce the length of the messages or completion.`,
        );
      case 'output_cap':
        return invalid(`Invalid max_tokens value, the valid range of max_tokens is [1, ${problem.cap}]`);
      case 'quota':
      case 'billing':
      case 'request_ceiling':
        return openAiError(402, { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' });
      case 'overloaded':
      case 'unavailable':
        return openAiError(503, {
          message: 'Service is too busy. We advise users to temporarily switch to alternative LLM API service providers.',
          type: 'service_unavailable_error',
          code: 'service_unavailable_error',
        });
      case 'invalid':
        return invalid(problem.message);
      default:
        return refuseAsOpenAi(problem, context);
    }
  },
};
