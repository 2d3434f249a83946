import type { Problem, WireError } from './problem';
import { vllm } from './vllm';
import type { Vendor, VendorContext } from './vendor';

function tell(problem: Problem, context: VendorContext): { status: number; message: string; type: string } {
  const say = (status: number, message: string, type = 'api_error'): ReturnType<typeof tell> => ({ status, message, type });
  switch (problem.kind) {
    case 'overflow':
      return say(
        400,
        problem.text ??
          'the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length',
        'invalid_request_error',
      );
    case 'model_not_found':
      return say(404, `model '${context.model}' not found`, 'not_found_error');
    case 'unavailable':
    case 'overloaded':
      // Two blanks, as the server writes it.
      return say(503, 'server busy, please try again.  maximum pending requests exceeded');
    case 'quota':
    case 'billing':
    case 'request_ceiling':
      return say(429, 'you have reached your weekly usage limit, please upgrade to continue');
    case 'rate_limit':
      return say(429, 'too many requests');
    case 'auth':
    case 'permission':
      return say(401, 'unauthorized');
    case 'invalid':
      return say(400, problem.message, 'invalid_request_error');
    case 'output_cap':
    case 'prefill_refused':
    case 'content_filter':
      return say(400, 'invalid request', 'invalid_request_error');
    case 'too_large':
      return say(413, 'http: request body too large');
    case 'server_error':
    case 'gateway_timeout':
      return say(500, 'llama runner process has terminated: exit status 2');
  }
}

/** Ollama: a bare text on its own API, OpenAI's envelope on /v1. A prompt that is too long is cut without a word by default. */
export const ollama: Vendor = {
  ...vllm,
  history: 'lenient',
  reservesOutput: false,
  truncates: true,
  refuse: (problem, context): WireError => {
    const { status, message, type } = tell(problem, context);
    const body = context.format === 'ollama' ? { error: message } : { error: { message, type, param: null, code: null } };
    return { status, headers: {}, body };
  },
};
