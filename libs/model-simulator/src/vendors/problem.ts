import type { HintForm } from '../config/fault-spec';

export interface Hint {
  readonly form: HintForm;
  readonly seconds: number;
}

/** Why a request is refused, before any vendor's wording. Token figures are this server's own counts. */
export type Problem =
  | {
      readonly kind: 'overflow';
      readonly input: number;
      readonly output: number;
      readonly window: number;
      readonly inputMax?: number;
      readonly tools: number;
      readonly text?: string;
    }
  | {
      readonly kind: 'output_cap';
      readonly requested: number;
      readonly cap: number;
      readonly input: number;
      readonly window: number;
    }
  | { readonly kind: 'rate_limit'; readonly hint?: Hint }
  | { readonly kind: 'quota'; readonly resetsInSeconds?: number }
  | { readonly kind: 'request_ceiling'; readonly limit: number; readonly requested: number }
  | { readonly kind: 'billing' }
  | { readonly kind: 'server_error' }
  | { readonly kind: 'unavailable'; readonly hint?: Hint }
  | { readonly kind: 'overloaded' }
  | { readonly kind: 'gateway_timeout' }
  | { readonly kind: 'auth' }
  | { readonly kind: 'permission' }
  | { readonly kind: 'model_not_found' }
  | { readonly kind: 'content_filter' }
  | { readonly kind: 'prefill_refused' }
  | { readonly kind: 'too_large'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'invalid'; readonly message: string; readonly param?: string; readonly code?: string };

/** Thrown while a request is read; carries what the vendor will be made to say. */
export class Refusal extends Error {
  constructor(readonly problem: Problem) {
    super(problem.kind === 'invalid' ? problem.message : problem.kind);
    this.name = 'Refusal';
  }
}

export function invalid(message: string, param?: string, code?: string): Refusal {
  return new Refusal({
    kind: 'invalid',
    message,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  });
}

/** An answer that is an error, ready for the wire. */
export interface WireError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Written as JSON unless it is a string. */
  readonly body: unknown;
}
