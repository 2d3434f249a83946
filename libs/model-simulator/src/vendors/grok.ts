import { renderHint } from './hints';
import { openai } from './openai';
import type { Problem, WireError } from './problem';
import type { Vendor, VendorContext } from './vendor';

/** `error` is a text and `code` is prose. */
function say(status: number, code: string, error: string, headers: Record<string, string> = {}): WireError {
  return { status, headers, body: { code, error } };
}

const argument = 'Client specified an invalid argument';

function refuse(problem: Problem, context: VendorContext): WireError {
  switch (problem.kind) {
    case 'overflow':
      return say(
        400,
        argument,
        problem.text ??
          `This model's maximum prompt length is ${problem.inputMax ?? problem.window} but the request contains ${problem.input} tokens.`,
      );
    case 'output_cap':
      return say(400, argument, `max_tokens must not exceed ${problem.cap}.`);
    case 'rate_limit': {
      const hint = renderHint(problem.hint, context.nowMs);
      return say(429, 'Some resource has been exhausted', `Too many requests for team.${hint.text}`, hint.headers);
    }
    case 'quota':
    case 'billing':
    case 'request_ceiling':
      // The same text comes under 429 on chat completions and under 403 on Responses.
      return say(
        context.format === 'openai-responses' ? 403 : 429,
        'Some resource has been exhausted',
        'Your team 00000000-sim has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
      );
    case 'server_error':
      return say(500, 'Internal error', 'Internal error');
    case 'unavailable':
    case 'overloaded':
      return say(503, 'The service is currently unavailable', 'The model is at capacity. Please try again later.');
    case 'gateway_timeout':
      return say(504, 'Deadline exceeded', 'upstream request timeout');
    case 'auth':
      return say(400, argument, 'Incorrect API key provided. You can obtain an API key from the console.');
    case 'permission':
      return say(403, 'The caller does not have permission to execute the specified operation', 'Permission denied.');
    case 'model_not_found':
      return say(
        404,
        'Some requested entity was not found',
        `The model ${context.model} does not exist or your team does not have access to it.`,
      );
    case 'content_filter':
      return say(
        403,
        'The caller does not have permission to execute the specified operation',
        'Content violates usage guidelines.',
      );
    case 'prefill_refused':
      return say(400, argument, 'The last message must not be an assistant message.');
    case 'too_large':
      return say(413, argument, 'Request body too large.');
    case 'invalid':
      return say(400, argument, problem.message);
  }
}

/** xAI: completion_tokens leaves reasoning out. */
export const grok: Vendor = {
  ...openai,
  refuse,
  usage: { inStream: 'asked', excludesReasoning: true, cached: 'details' },
};
