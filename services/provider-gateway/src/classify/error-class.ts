import type { ErrorCode } from '@nightshift/contracts';

/** Closed list of what can go wrong with one attempt. The order here is for reading; the order of rules is in rules.ts. */
export const errorClasses = [
  'transport',
  'timeout',
  'aborted',
  'quota',
  'request_ceiling',
  'rate_limit',
  'output_cap',
  'overflow',
  'content_filter',
  'prefill',
  'signature',
  'auth',
  'not_found',
  'overload',
  'server',
  'invalid_request',
  'empty',
  'malformed',
  'truncated',
  'unknown',
] as const;
export type ErrorClass = (typeof errorClasses)[number];

/** What a class means for the chain and for the breaker. */
export interface ClassPolicy {
  /** Code of the terminal event when nothing else helps. */
  code: ErrorCode;
  /** The same provider may be asked again within the retry budget. */
  retry: boolean;
  /** The next candidate may be asked. */
  next: boolean;
  /** `open`: one occurrence is enough to stop asking. `neutral`: says nothing about the provider's health. */
  breaker: 'count' | 'open' | 'neutral';
}

/**
 * Overflow and output cap stay in place: a fallback with a smaller window cannot help. A timeout is not repeated on the
 * same provider, since a slow one stays slow and the clock has already been paid once.
 */
export const classPolicies: Readonly<Record<ErrorClass, ClassPolicy>> = {
  transport: { code: 'PROVIDER_UNAVAILABLE', retry: true, next: true, breaker: 'count' },
  timeout: { code: 'PROVIDER_UNAVAILABLE', retry: false, next: true, breaker: 'count' },
  aborted: { code: 'CANCELLED', retry: false, next: false, breaker: 'neutral' },
  quota: { code: 'PROVIDER_QUOTA', retry: false, next: true, breaker: 'open' },
  request_ceiling: { code: 'PROVIDER_REQUEST_CEILING', retry: false, next: true, breaker: 'neutral' },
  rate_limit: { code: 'PROVIDER_RATE_LIMITED', retry: true, next: true, breaker: 'count' },
  output_cap: { code: 'PROVIDER_OUTPUT_CAP', retry: false, next: false, breaker: 'neutral' },
  overflow: { code: 'PROVIDER_OVERFLOW', retry: false, next: false, breaker: 'neutral' },
  content_filter: { code: 'PROVIDER_CONTENT_FILTER', retry: false, next: false, breaker: 'neutral' },
  prefill: { code: 'PROVIDER_INVALID_REQUEST', retry: false, next: true, breaker: 'neutral' },
  signature: { code: 'PROVIDER_INVALID_REQUEST', retry: false, next: true, breaker: 'neutral' },
  auth: { code: 'PROVIDER_AUTH', retry: false, next: true, breaker: 'open' },
  not_found: { code: 'PROVIDER_NOT_FOUND', retry: false, next: true, breaker: 'neutral' },
  overload: { code: 'PROVIDER_OVERLOADED', retry: true, next: true, breaker: 'count' },
  server: { code: 'PROVIDER_UNAVAILABLE', retry: true, next: true, breaker: 'count' },
  invalid_request: { code: 'PROVIDER_INVALID_REQUEST', retry: false, next: true, breaker: 'neutral' },
  empty: { code: 'PROVIDER_UNAVAILABLE', retry: true, next: true, breaker: 'count' },
  malformed: { code: 'PROVIDER_UNAVAILABLE', retry: true, next: true, breaker: 'count' },
  truncated: { code: 'PROVIDER_TRUNCATED', retry: true, next: true, breaker: 'count' },
  unknown: { code: 'PROVIDER_UNAVAILABLE', retry: true, next: true, breaker: 'count' },
};
