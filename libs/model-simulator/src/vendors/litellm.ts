import { renderHint } from './hints';
import { openai, refuseAsOpenAi } from './openai';
import { isObject, objectOf, textOf } from '../json';
import type { Vendor } from './vendor';

const classes: Readonly<Record<string, string>> = {
  overflow: 'ContextWindowExceededError: litellm.BadRequestError',
  rate_limit: 'RateLimitError',
  quota: 'RateLimitError',
  auth: 'AuthenticationError',
  model_not_found: 'NotFoundError',
  server_error: 'InternalServerError',
  overloaded: 'ServiceUnavailableError',
  unavailable: 'ServiceUnavailableError',
};

/** A LiteLLM proxy in front of OpenAI: the upstream's text inside its own, code as a text, None as a word. */
export const litellm: Vendor = {
  ...openai,
  refuse: (problem, context) => {
    const upstream = refuseAsOpenAi(problem, context);
    const error = objectOf(isObject(upstream.body) ? upstream.body['error'] : {});
    const name = classes[problem.kind] ?? 'BadRequestError';
    const headers = problem.kind === 'rate_limit' ? renderHint(problem.hint, context.nowMs).headers : {};
    return {
      status: upstream.status,
      headers,
      body: {
        error: {
          message: `litellm.${name}: OpenAIException - ${textOf(error['message'])}. Received Model Group=${context.model}\nAvailable Model Group Fallbacks=None`,
          type: problem.kind === 'rate_limit' ? 'throttling_error' : 'None',
          param: 'None',
          code: String(upstream.status),
        },
      },
    };
  },
};
