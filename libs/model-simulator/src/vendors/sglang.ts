import { engineError, refuseAsEngine, vllm } from './vllm';
import type { Vendor, VendorContext } from './vendor';
import type { Problem, WireError } from './problem';

function refuse(problem: Problem, context: VendorContext): WireError {
  if (problem.kind !== 'overflow') return refuseAsEngine(problem, context);
  const { input, output, window } = problem;
  const text =
    problem.text ??
    (input > window || output === 0
      ? `The input (${input} tokens) is longer than the model's context length (${window} tokens).`
      : `Requested token count exceeds the model's maximum context length of ${window} tokens. You requested a total of ${input + output} tokens: ${input} tokens from the input messages and ${output} tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.`);
  return engineError(400, 'BadRequestError', text);
}

/** SGLang: its overflow may come as a data frame under status 200. */
export const sglang: Vendor = {
  ...vllm,
  refuse,
  inStream: (problem, context) => {
    const { body } = refuse(problem, context) as { body: { error: { message: string; code: number } } };
    return {
      error: { object: 'error', message: body.error.message, type: 'BadRequestError', param: null, code: body.error.code },
    };
  },
};
