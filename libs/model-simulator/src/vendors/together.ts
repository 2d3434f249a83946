import { openai, openAiError, refuseAsOpenAi } from './openai';
import type { Vendor } from './vendor';

/** Together: one sum rule for input and output, named with all three numbers. */
export const together: Vendor = {
  ...openai,
  capsOutput: false,
  refuse: (problem, context) => {
    switch (problem.kind) {
      case 'overflow':
        return openAiError(400, {
          message:
            problem.text ??
            `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= ${problem.window}. Given: ${problem.input} \`inputs\` tokens and ${problem.output} \`max_new_tokens\``,
          type: 'invalid_request_error',
          param: 'max_tokens',
        });
      case 'quota':
      case 'billing':
      case 'request_ceiling':
        return openAiError(402, { message: 'You have reached your spending limit.', type: 'payment_required' });
      default:
        return refuseAsOpenAi(problem, context);
    }
  },
};
