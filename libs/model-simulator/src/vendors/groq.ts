import { renderHint } from './hints';
import { openai, openAiError, refuseAsOpenAi } from './openai';
import type { Vendor } from './vendor';

/** Groq: an overflow without numbers, a request above the per-minute bucket as 413, usage repeated under x_groq. */
export const groq: Vendor = {
  ...openai,
  usage: { inStream: 'finish', excludesReasoning: false, cached: 'details', extra: 'x_groq' },
  refuse: (problem, context) => {
    switch (problem.kind) {
      case 'overflow':
        return openAiError(400, {
          message: problem.text ?? 'Please reduce the length of the messages or completion.',
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        });
      case 'output_cap':
        return openAiError(400, {
          message: `\`max_tokens\` must be less than or equal to \`${problem.cap}\`, the maximum value for \`max_tokens\` is less than the \`context_window\` for this model`,
          type: 'invalid_request_error',
          param: 'max_tokens',
        });
      case 'rate_limit': {
        const hint = renderHint(problem.hint, context.nowMs);
        const seconds = problem.hint?.seconds ?? 5.289;
        return openAiError(
          429,
          {
            message: `Rate limit reached for model \`${context.model}\` in organization \`org_simulated\` service tier \`on_demand\` on tokens per minute (TPM): Limit 15000, Used 11972, Requested 4351. Please try again in ${seconds}s.`,
            type: 'tokens',
            code: 'rate_limit_exceeded',
          },
          hint.headers,
        );
      }
      case 'request_ceiling':
        return openAiError(413, {
          message: `Request too large for model \`${context.model}\` in organization \`org_simulated\` service tier \`on_demand\` on tokens per minute (TPM): Limit ${problem.limit}, Requested ${problem.requested}, please reduce your message size and try again.`,
          type: 'tokens',
          code: 'rate_limit_exceeded',
        });
      default:
        return refuseAsOpenAi(problem, context);
    }
  },
};
