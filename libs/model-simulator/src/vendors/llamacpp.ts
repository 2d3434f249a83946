import type { WireError } from './problem';
import { refuseAsEngine, vllm } from './vllm';
import type { Vendor } from './vendor';

/** llama.cpp's server: structured fields tell the served window; an output that is too long just stops at the wall. */
export const llamacpp: Vendor = {
  ...vllm,
  usage: { inStream: 'asked', excludesReasoning: false, cached: 'none', extra: 'timings' },
  history: 'lenient',
  reservesOutput: false,
  refuse: (problem, context) => {
    const say = (code: number, type: string, message: string, more: Record<string, number> = {}): WireError => ({
      status: code,
      headers: {},
      body: { error: { code, message, type, ...more } },
    });
    switch (problem.kind) {
      case 'overflow':
        return say(
          400,
          'exceed_context_size_error',
          problem.text ??
            `request (${problem.input} tokens) exceeds the available context size (${problem.window} tokens), try increasing it`,
          { n_prompt_tokens: problem.input, n_ctx: problem.window },
        );
      case 'server_error':
        return say(500, 'server_error', 'Context size has been exceeded.');
      case 'unavailable':
      case 'overloaded':
        return say(503, 'unavailable_error', 'Loading model');
      case 'invalid':
        return say(400, 'invalid_request_error', problem.message);
      case 'auth':
        return say(401, 'authentication_error', 'Invalid API Key');
      case 'model_not_found':
        return say(404, 'not_found_error', `model '${context.model}' not found`);
      default:
        return refuseAsEngine(problem, context);
    }
  },
};
