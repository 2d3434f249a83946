import { renderHint } from './hints';
import { openai, openAiError, refuseAsOpenAi } from './openai';
import type { Vendor } from './vendor';

const DAY_SECONDS = 86_400;

/** OpenAI's texts for the request itself, Azure's own for limits; the code of a limit is its status as text. */
export const azure: Vendor = {
  ...openai,
  // A chunk without choices comes first, so a client must not take "a chunk arrived" for content.
  preamble: `data: ${JSON.stringify({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] })}\n\n`,
  refuse: (problem, context) => {
    const limit = (seconds: number): string =>
      `Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-10-21 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after ${seconds} seconds.`;
    switch (problem.kind) {
      case 'rate_limit': {
        const hint = renderHint(problem.hint, context.nowMs);
        const seconds = Math.ceil(problem.hint?.seconds ?? 7);
        return { status: 429, headers: hint.headers, body: { error: { code: '429', message: limit(seconds) } } };
      }
      case 'quota':
      case 'request_ceiling':
        return { status: 429, headers: {}, body: { error: { code: '429', message: limit(DAY_SECONDS) } } };
      case 'content_filter':
        return openAiError(400, {
          message:
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
          type: null,
          param: 'prompt',
          code: 'content_filter',
          innererror: { code: 'ResponsibleAIPolicyViolation' },
        });
      case 'model_not_found':
        return openAiError(404, {
          message: 'The API deployment for this resource does not exist.',
          type: null,
          code: 'DeploymentNotFound',
        });
      default:
        return refuseAsOpenAi(problem, context);
    }
  },
};
