import type { FaultAction } from '../config/fault-spec';
import type { ModelSpec } from '../config/model-spec';
import type { Problem } from '../vendors/problem';

/** A fault that replaces the whole answer by an error, as the problem it plays; undefined for all others. */
export function problemOf(action: FaultAction, input: number, spec: ModelSpec): Problem | undefined {
  switch (action.kind) {
    case 'rate_limit':
    case 'unavailable':
      return { kind: action.kind, ...(action.hint === undefined ? {} : { hint: action.hint }) };
    case 'quota':
      return { kind: 'quota', ...(action.resetsInSeconds === undefined ? {} : { resetsInSeconds: action.resetsInSeconds }) };
    case 'request_ceiling':
      return { kind: 'request_ceiling', limit: action.limit, requested: Math.max(input, action.limit + 1) };
    case 'overflow': {
      const window = action.window ?? spec.window;
      return {
        kind: 'overflow',
        input: Math.max(input, window + 1),
        output: 0,
        window,
        tools: 0,
        ...(action.text === undefined ? {} : { text: action.text }),
      };
    }
    case 'output_cap':
      return { kind: 'output_cap', requested: action.cap + 1, cap: action.cap, input, window: spec.window };
    case 'billing':
    case 'server_error':
    case 'overloaded':
    case 'gateway_timeout':
    case 'auth':
    case 'permission':
    case 'model_not_found':
    case 'content_filter':
    case 'prefill_refused':
      return { kind: action.kind };
    default:
      return undefined;
  }
}

/** The problem that an in-stream error plays. */
export function inStreamProblem(
  as: Extract<FaultAction, { kind: 'error_in_200' }>['as'],
  input: number,
  spec: ModelSpec,
): Problem {
  switch (as) {
    case 'overflow':
      return { kind: 'overflow', input: Math.max(input, spec.window + 1), output: 0, window: spec.window, tools: 0 };
    case 'type_message':
    case 'server_error':
      return { kind: 'server_error' };
    case 'overloaded':
    case 'rate_limit':
    case 'quota':
      return { kind: as };
  }
}
