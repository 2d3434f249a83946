import type { Metrics } from '@nightshift/metrics';
import { toMs } from '@nightshift/contracts';
import type { ErrorClass } from './classify/error-class';
import type { GatewayCounters } from './core/gateway-deps';

type AttemptOutcome =
  | 'ok'
  | 'error'
  | 'aborted'
  | 'overflow'
  | 'output_cap'
  | 'rate_limited'
  | 'overloaded'
  | 'timeout'
  | 'truncated'
  | 'auth';
const outcomes: Readonly<Partial<Record<ErrorClass, AttemptOutcome>>> = {
  aborted: 'aborted',
  overflow: 'overflow',
  output_cap: 'output_cap',
  rate_limit: 'rate_limited',
  quota: 'rate_limited',
  request_ceiling: 'rate_limited',
  overload: 'overloaded',
  timeout: 'timeout',
  truncated: 'truncated',
  empty: 'truncated',
  malformed: 'truncated',
  auth: 'auth',
};

type FallbackReason =
  | 'rate_limited'
  | 'overloaded'
  | 'server'
  | 'timeout'
  | 'network'
  | 'truncated'
  | 'quota'
  | 'auth'
  | 'breaker'
  | 'not_found'
  | 'busy'
  | 'request_ceiling'
  | 'invalid_request'
  | 'unknown';
const reasons: Readonly<Record<string, FallbackReason>> = {
  rate_limit: 'rate_limited',
  overload: 'overloaded',
  server: 'server',
  timeout: 'timeout',
  transport: 'network',
  truncated: 'truncated',
  empty: 'truncated',
  malformed: 'truncated',
  quota: 'quota',
  auth: 'auth',
  breaker: 'breaker',
  busy: 'busy',
  not_found: 'not_found',
  request_ceiling: 'request_ceiling',
  invalid_request: 'invalid_request',
  prefill: 'invalid_request',
  signature: 'invalid_request',
};

/** The core's counting on the metrics of this process. */
export function gatewayCounters(metrics: Metrics): GatewayCounters {
  const attempts = metrics.counter('provider_attempts');
  const durations = metrics.histogram('provider_attempt_duration_seconds');
  const firstContent = metrics.histogram('provider_first_content_seconds');
  const tokens = metrics.counter('provider_tokens');
  const fallbacks = metrics.counter('provider_fallbacks');
  const overflows = metrics.counter('provider_overflows');
  const outputCaps = metrics.counter('provider_output_caps');
  const truncations = metrics.counter('provider_silent_truncations');
  const exhausted = metrics.counter('provider_chain_exhausted');
  return {
    attempt(attempt, failure, firstContentMs) {
      const { provider, model, usage } = attempt;
      attempts.inc({ provider, model, outcome: failure ? (outcomes[failure.class] ?? 'error') : 'ok' });
      durations.observe({ provider }, (toMs(attempt.endedAtMs) - toMs(attempt.startedAtMs)) / 1_000);
      if (firstContentMs > 0) firstContent.observe({ provider }, firstContentMs / 1_000);
      if (failure?.class === 'overflow') overflows.inc({ provider });
      if (failure?.class === 'output_cap') outputCaps.inc({ provider });
      if (!usage) return;
      const kinds = [
        ['input', usage.inputTotal],
        ['cache_read', usage.cacheRead],
        ['cache_write', usage.cacheWrite],
        ['output', usage.outputTotal],
        ['reasoning', usage.reasoning],
      ] as const;
      for (const [kind, count] of kinds) if (count > 0) tokens.inc({ provider, model, kind }, count);
    },
    fallback: (reason) => fallbacks.inc({ reason: reasons[reason] ?? 'unknown' }),
    exhausted: () => exhausted.inc(),
    silentTruncation: (provider) => truncations.inc({ provider }),
  };
}
