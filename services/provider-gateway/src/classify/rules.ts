import type { ErrorClass } from './error-class';
import type { Evidence } from './evidence';
import { longestBelievableWait } from './waiting-hint';

export interface Rule {
  name: string;
  class: ErrorClass;
  applies(evidence: Evidence): boolean;
}

type Test = (evidence: Evidence) => boolean;
const label =
  (...names: string[]): Test =>
  (e) =>
    e.labels.some((found) => names.includes(found));
const text =
  (pattern: RegExp): Test =>
  (e) =>
    pattern.test(e.message);
const status =
  (...values: number[]): Test =>
  (e) =>
    values.includes(e.effectiveStatus);
const both =
  (...tests: Test[]): Test =>
  (e) =>
    tests.every((test) => test(e));
const not =
  (test: Test): Test =>
  (e) =>
    !test(e);
const rule = (name: string, errorClass: ErrorClass, applies: Test): Rule => ({ name, class: errorClass, applies });

const overflowCode = label(
  'context_length_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'base_resp.1039',
);

/**
 * The one table, tried from top to bottom; the first rule that applies wins. The order carries the meaning: closed
 * accounts look like rate limits, rate limits talk like overflows, output caps mention the context length.
 */
export const rules: readonly Rule[] = [
  // 1 transport
  rule('aborted', 'aborted', (e) => e.fault?.kind === 'aborted'),
  rule('timeout', 'timeout', (e) => e.fault !== undefined && e.fault.kind.endsWith('_timeout')),
  rule('transport', 'transport', (e) => e.fault !== undefined),

  // 3 billing and quota, before rate limits of the same status
  rule('openrouter-in-flight', 'rate_limit', label('openrouter_in_flight_budget')),
  rule(
    'quota-code',
    'quota',
    label(
      'insufficient_quota',
      'credit_balance_exhausted',
      'organization_spend_limit_exceeded',
      'project_spend_limit_exceeded',
      'organization_usage_limit_exceeded',
      'billing_hard_limit_reached',
      'billing_error',
      'usage_limit_reached',
      'usage_not_included',
      'enforced_spend_limit_reached',
      'payment_required',
      'weight_exceeds_budget',
      'budget_exceeded',
      'ServiceQuotaExceededException',
      'base_resp.1008',
    ),
  ),
  rule('openrouter-budget', 'quota', both(status(403), label('guardrail', 'workspace', 'key'))),
  rule('gemini-per-day', 'quota', (e) => e.labels.some((found) => /PerDay/.test(found))),
  // The text of both is "exceeded your current quota"; the id of the quota tells them apart.
  rule(
    'gemini-per-minute',
    'rate_limit',
    both(status(429), (e) => e.labels.some((found) => /PerMinute/.test(found))),
  ),
  rule('payment-required', 'quota', status(402)),
  rule(
    'quota-text',
    'quota',
    text(
      /credit balance is too low|reached your specified (workspace )?API usage limits|used all available credits|monthly spending limit|insufficient balance|exceeded your current quota|weekly usage limit|usage limit has been reached|too many tokens per day|budget has been exceeded|ExceededBudget/i,
    ),
  ),

  // 4 ceilings that waiting does not lift
  rule('tpm-ceiling', 'request_ceiling', text(/request too large for (model|gpt|\S+).*tokens per min/is)),
  rule('long-context-entitlement', 'request_ceiling', text(/extra usage is required for long context/i)),
  rule('groq-413', 'request_ceiling', both(status(413), label('rate_limit_exceeded'))),

  // 5 rate limit; wins over the text of an overflow, not over its code
  rule('day-long-wait', 'quota', (e) => isRateLimit(e) && (e.waitMs ?? 0) > longestBelievableWait),
  rule('rate-limit', 'rate_limit', (e) => isRateLimit(e)),

  // 6 output cap, before overflow: these texts mention the context length too
  rule('output-cap-size', 'output_cap', (e) => e.sizes?.class === 'output_cap' && subjectIsOutput(e)),
  rule('max-tokens-negative', 'overflow', text(/max_tokens must be at least 1, got -\d/i)),
  rule('thinking-budget', 'invalid_request', text(/must be greater than `?thinking\.budget_tokens/i)),
  rule(
    'output-cap-text',
    'output_cap',
    text(
      /max_output_tokens\S* cannot be greater than max_total_tokens|\bmax_tokens_exceeded\b|unsupported value: '?max_(completion_)?tokens/i,
    ),
  ),
  rule(
    'output-cap-code',
    'output_cap',
    (e) => /^max_(completion_|output_)?tokens$/.test(e.envelope.param) && label('invalid_value')(e),
  ),

  // 7 overflow
  rule('overflow-code', 'overflow', overflowCode),
  rule('overflow-size', 'overflow', (e) => e.sizes?.class === 'overflow' || e.sizes?.class === 'sum'),
  rule(
    'field-limit',
    'invalid_request',
    both(text(/string too long\. Expected a string with maximum length/i), not(overflowCode)),
  ),
  rule('field-limit-code', 'invalid_request', label('string_above_max_length')),
  rule(
    'overflow-text',
    'overflow',
    text(
      /exceeds? (the|this|your) (model'?s? )?(maximum )?context (window|length|size)|context window exceeds limit|context size has been exceeded|input is too long for requested model|too many input tokens\. max input|number of input tokens exceeds maximum length|malformed input request: expected maxLength|prompt is longer than the context length|prompt too long; exceeded max context length|input length exceeds the context length|exceeds the maximum number of tokens allowed|please reduce the length of (the|either)|maximum context length|context[ _]length[ _]exceeded|ContextWindowExceededError|tokens in request more than max tokens allowed|request exceeds the maximum size|exceeded this model context window|exceeds the context window|does not fit (in|into) the (kv cache|context)|more tokens than the KV cache can hold|trying to keep the first|prompt is too long/i,
    ),
  ),
  rule('overflow-bytes', 'overflow', both(status(413), label('request_too_large'))),
  rule(
    'overflow-empty-body',
    'overflow',
    (e) => e.emptyBodyMeansOverflow && e.bodyIsEmpty && [400, 413].includes(e.effectiveStatus),
  ),
  rule('too-large', 'overflow', status(413)),

  // 8 the rest
  rule(
    'content-filter-code',
    'content_filter',
    label(
      'content_filter',
      'content_policy_violation',
      'ResponsibleAIPolicyViolation',
      'PROHIBITED_CONTENT',
      'SAFETY',
      'base_resp.1026',
      'base_resp.1027',
      'invalid_prompt',
    ),
  ),
  rule(
    'content-filter-text',
    'content_filter',
    text(/content management policy|content (filter|policy)|safety (system|policy|settings)/i),
  ),
  rule(
    'prefill',
    'prefill',
    text(/does not support assistant message prefill|conversation must end with a user message|prefill.{0,40}not supported/i),
  ),
  rule(
    'signature',
    'signature',
    text(
      /invalid `?signature`? in `?thinking|thinking block.{0,60}(signature|cannot be modified)|invalid.{0,20}encrypted.{0,10}(content|reasoning)/i,
    ),
  ),
  rule('auth', 'auth', both(status(401, 403), not(label('overloaded_error')))),
  // Gemini and xAI refuse a key with a 400.
  rule('auth-text', 'auth', both(status(400), text(/api key not valid|(incorrect|invalid) api key/i))),
  rule(
    'auth-code',
    'auth',
    label(
      'authentication_error',
      'permission_error',
      'invalid_api_key',
      'API_KEY_INVALID',
      'UNAUTHENTICATED',
      'PERMISSION_DENIED',
      'base_resp.1004',
      'AccessDeniedException',
    ),
  ),
  rule('not-found', 'not_found', both(status(404), not(label('overloaded_error')))),
  rule(
    'not-found-code',
    'not_found',
    label('model_not_found', 'not_found_error', 'NotFoundError', 'NOT_FOUND', 'ResourceNotFoundException'),
  ),
  rule(
    'overload-code',
    'overload',
    label(
      'overloaded_error',
      'server_is_overloaded',
      'service_unavailable_error',
      'slow_down',
      'UNAVAILABLE',
      'provider_overloaded',
      'unavailable_error',
      'serviceUnavailableException',
      'ServiceUnavailableException',
      'ModelNotReadyException',
    ),
  ),
  rule('overload', 'overload', status(503, 529)),
  rule(
    'overload-text',
    'overload',
    text(/^overloaded$|model is overloaded|server (is )?busy|currently overloaded|experiencing high demand/i),
  ),
  // "Not implemented" will not be implemented at the next try either.
  rule('not-supported', 'invalid_request', (e) => e.effectiveStatus === 501 || label('not_supported_error')(e)),
  rule(
    'server-code',
    'server',
    label(
      'api_error',
      'server_error',
      'internal_error',
      'INTERNAL',
      'internal_server_error',
      'timeout_error',
      'internalServerException',
      'modelStreamErrorException',
      'ModelTimeoutException',
      'base_resp.1001',
      'base_resp.1024',
      'base_resp.1033',
    ),
  ),
  rule('server', 'server', (e) => e.effectiveStatus >= 500 || [408, 409, 424, 425].includes(e.effectiveStatus)),
  rule('client-closed', 'server', status(499)),
  rule('invalid-request', 'invalid_request', (e) => e.effectiveStatus >= 400),
  rule(
    'invalid-request-code',
    'invalid_request',
    label(
      'invalid_request_error',
      'bad_request_error',
      'INVALID_ARGUMENT',
      'BadRequestError',
      'base_resp.2013',
      'validationException',
    ),
  ),
  rule('unknown', 'unknown', () => true),
];

function isRateLimit(e: Evidence): boolean {
  if (overflowCode(e)) return false;
  if (e.effectiveStatus === 429) return true;
  if (
    label(
      'rate_limit_error',
      'rate_limit_exceeded',
      'rate_limited',
      'throttling_error',
      'ThrottlingException',
      'throttlingException',
      'RESOURCE_EXHAUSTED',
      'too_many_requests',
      'base_resp.1002',
    )(e)
  ) {
    return true;
  }
  return /\bthrottl(ed|ing)\b|too many requests|tokens per (min|day)|please wait before|rate limit (reached|exceeded|is exceeded)|exceeded.{0,40}(token|call|request) rate limit|service tier capacity exceeded/i.test(
    e.message,
  );
}

/** `expected a value <= N` says nothing by itself: only where the parameter is an output limit. */
function subjectIsOutput(e: Evidence): boolean {
  if (e.sizes?.pattern !== 'expected-at-most') return true;
  return /max_(completion_|output_)?tokens/.test(`${e.envelope.param} ${e.message}`);
}
