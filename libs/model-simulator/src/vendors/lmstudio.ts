import type { WireError } from './problem';
import { refuseAsEngine, vllm } from './vllm';
import type { Vendor } from './vendor';

/** LM Studio: the loaded window stands in the text, and errors may come inside a 200. */
export const lmstudio: Vendor = {
  ...vllm,
  errorEvent: 'error',
  history: 'lenient',
  reservesOutput: false,
  refuse: (problem, context) => {
    const say = (status: number, message: string): WireError => ({ status, headers: {}, body: { error: message } });
    switch (problem.kind) {
      case 'overflow':
        return say(
          400,
          problem.text ??
            `The number of tokens to keep from the initial prompt is greater than the context length (n_keep: ${problem.input} >= n_ctx: ${problem.window}). Try to load the model with a larger context length, or provide a shorter prompt.`,
        );
      case 'model_not_found':
        return say(404, `Model "${context.model}" not found`);
      case 'invalid':
        return say(400, problem.message);
      case 'server_error':
        return say(500, 'The model has crashed without additional information.');
      default:
        return refuseAsEngine(problem, context);
    }
  },
  inStream: (problem) => {
    const message =
      problem.kind === 'overflow'
        ? `Trying to keep the first ${problem.input} tokens when context the overflows. However, the model is loaded with context length of only ${problem.window} tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input.`
        : 'The model has crashed without additional information.';
    return { error: { message }, message };
  },
};
