import { renderHint } from './hints';
import { openai } from './openai';
import type { Problem, WireError } from './problem';
import type { Vendor, VendorContext } from './vendor';

interface GoogleError {
  readonly code: number;
  readonly message: string;
  readonly status: string;
  readonly details?: readonly unknown[];
}

function googleError(problem: Problem, context: VendorContext): { error: GoogleError; headers: Record<string, string> } {
  const say = (
    code: number,
    status: string,
    message: string,
    details?: readonly unknown[],
    headers = {},
  ): ReturnType<typeof googleError> => ({
    error: { code, message, status, ...(details === undefined ? {} : { details }) },
    headers,
  });
  const quota = (id: string, more: readonly unknown[] = []): unknown[] => [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ quotaMetric: 'generate_content_requests', quotaId: id }],
    },
    ...more,
  ];
  switch (problem.kind) {
    case 'overflow':
      return say(
        400,
        'INVALID_ARGUMENT',
        problem.text ??
          `The input token count (${problem.input}) exceeds the maximum number of tokens allowed (${problem.inputMax ?? problem.window}).`,
      );
    case 'output_cap':
      return say(
        400,
        'INVALID_ARGUMENT',
        `Unable to submit request because it has a maxOutputTokens value of ${problem.requested} but the supported range is from 1 (inclusive) to ${problem.cap + 1} (exclusive).`,
      );
    case 'rate_limit': {
      const hint = renderHint(problem.hint, context.nowMs);
      return say(
        429,
        'RESOURCE_EXHAUSTED',
        `You exceeded your current quota, please check your plan and billing details.${hint.text}`,
        quota('GenerateRequestsPerMinutePerProjectPerModel', hint.details),
        hint.headers,
      );
    }
    case 'quota':
    case 'request_ceiling':
      // The short retry delay beside a daily quota is the vendor's own trap.
      return say(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.', [
        ...quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36s' },
      ]);
    case 'billing':
      return say(402, 'RESOURCE_EXHAUSTED', 'Your prepaid credits are used up.');
    case 'server_error':
      return say(500, 'INTERNAL', 'An internal error has occurred. Please retry or report in the troubleshooting guide.');
    case 'unavailable':
    case 'overloaded':
      return say(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.');
    case 'gateway_timeout':
      return say(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.');
    case 'auth':
      return say(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
      ]);
    case 'permission':
      return say(403, 'PERMISSION_DENIED', 'The caller does not have permission');
    case 'model_not_found':
      return say(
        404,
        'NOT_FOUND',
        `models/${context.model} is not found for API version v1beta, or is not supported for generateContent.`,
      );
    case 'content_filter':
      return say(400, 'INVALID_ARGUMENT', 'The request was blocked: PROHIBITED_CONTENT');
    case 'prefill_refused':
      return say(
        400,
        'INVALID_ARGUMENT',
        'Please ensure that single turn requests end with a user role or the role field is empty.',
      );
    case 'too_large':
      return say(413, 'INVALID_ARGUMENT', `Request payload size exceeds the limit: ${problem.limit} bytes.`);
    case 'invalid':
      return say(400, 'INVALID_ARGUMENT', problem.message);
  }
}

function refuse(wrap: (error: GoogleError) => unknown): (problem: Problem, context: VendorContext) => WireError {
  return (problem, context) => {
    const { error, headers } = googleError(problem, context);
    return { status: error.code, headers, body: wrap(error) };
  };
}

const usage: Vendor['usage'] = { inStream: 'every', excludesReasoning: true, cached: 'details' };

/** Google's own wording. */
export const gemini: Vendor = {
  ...openai,
  refuse: refuse((error) => ({ error })),
  usage,
  history: 'gemini',
};

/** The OpenAI-compatible route wraps the whole body into an array, and reports usage on each chunk. */
export const geminiCompat: Vendor = { ...gemini, refuse: refuse((error) => [{ error }]) };
