import { openai, refuseAsOpenAi } from './openai';
import type { WireError } from './problem';
import type { Vendor } from './vendor';

/** Codes stand in brackets at the end of the text: (2013) is "invalid params", never a number of tokens. */
export const minimax: Vendor = {
  ...openai,
  refuse: (problem, context) => {
    const say = (status: number, type: string, message: string): WireError => ({
      status,
      headers: {},
      body: { type: 'error', error: { type, message, http_code: String(status) }, request_id: context.requestId },
    });
    switch (problem.kind) {
      case 'overflow':
        return say(400, 'bad_request_error', problem.text ?? 'invalid params, context window exceeds limit (2013)');
      case 'output_cap':
        return say(400, 'bad_request_error', 'invalid params, max_tokens is out of range (2013)');
      case 'invalid':
        return say(400, 'bad_request_error', `invalid params, ${problem.message} (2013)`);
      case 'rate_limit':
        return say(429, 'rate_limit_error', 'rate limit exceeded (1002)');
      case 'quota':
      case 'billing':
      case 'request_ceiling':
        return say(429, 'insufficient_balance_error', 'insufficient balance (1008)');
      case 'auth':
        return say(401, 'authorized_error', 'invalid api key (1004)');
      case 'content_filter':
        return say(400, 'bad_request_error', 'input new_sensitive (1026)');
      case 'server_error':
      case 'overloaded':
        return say(500, 'server_error', 'unknown error (1000)');
      default:
        return refuseAsOpenAi(problem, context);
    }
  },
  // The native form of a failure under status 200.
  inStream: (problem) => ({
    base_resp:
      problem.kind === 'overflow'
        ? { status_code: 1039, status_msg: 'token limit' }
        : problem.kind === 'rate_limit'
          ? { status_code: 1002, status_msg: 'rate limit' }
          : problem.kind === 'quota'
            ? { status_code: 1008, status_msg: 'insufficient balance' }
            : { status_code: 1024, status_msg: 'internal error' },
  }),
};
