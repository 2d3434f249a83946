/**
 * The closed table of error codes: there are no others, on the wire or in the process.
 * `retryable`: the same call may succeed later. `failedAttempt`: counts against the delivery limit of a command
 * (infrastructure faults and "not now" do not). `http`: status at the HTTP edge.
 */
export const errorCodes = {
  INVALID_ARGUMENT: { retryable: false, failedAttempt: true, http: 400 },
  UNAUTHENTICATED: { retryable: false, failedAttempt: true, http: 401 },
  PERMISSION_DENIED: { retryable: false, failedAttempt: true, http: 403 },
  NOT_FOUND: { retryable: false, failedAttempt: true, http: 404 },
  CONFLICT: { retryable: false, failedAttempt: true, http: 409 },
  /** The row moved on meanwhile (epoch, generation, lease): the work was somebody else's. */
  FENCED: { retryable: false, failedAttempt: false, http: 409 },
  PAYLOAD_TOO_LARGE: { retryable: false, failedAttempt: true, http: 413 },
  FAILED_PRECONDITION: { retryable: false, failedAttempt: true, http: 422 },
  /** Saturated; carries a hint when to come back. */
  BUSY: { retryable: true, failedAttempt: false, http: 429 },
  CANCELLED: { retryable: false, failedAttempt: false, http: 499 },
  INTERNAL: { retryable: true, failedAttempt: true, http: 500 },
  UNAVAILABLE: { retryable: true, failedAttempt: false, http: 503 },
  DEADLINE_EXCEEDED: { retryable: true, failedAttempt: false, http: 504 },

  // compaction
  /** Even the smallest legal view does not fit the window. */
  CONTEXT_IRREDUCIBLE: { retryable: false, failedAttempt: true, http: 422 },
  /** The chosen model's threshold is below the measured size: compact for it, then ask again. */
  COMPACT_FIRST: { retryable: false, failedAttempt: false, http: 422 },

  // providers, from the classification table of the gateway
  PROVIDER_OVERFLOW: { retryable: false, failedAttempt: false, http: 422 },
  PROVIDER_OUTPUT_CAP: { retryable: false, failedAttempt: false, http: 422 },
  PROVIDER_REQUEST_CEILING: { retryable: false, failedAttempt: false, http: 422 },
  PROVIDER_QUOTA: { retryable: false, failedAttempt: false, http: 402 },
  PROVIDER_RATE_LIMITED: { retryable: true, failedAttempt: false, http: 429 },
  PROVIDER_CONTENT_FILTER: { retryable: false, failedAttempt: true, http: 422 },
  PROVIDER_AUTH: { retryable: false, failedAttempt: true, http: 502 },
  PROVIDER_NOT_FOUND: { retryable: false, failedAttempt: true, http: 404 },
  PROVIDER_INVALID_REQUEST: { retryable: false, failedAttempt: true, http: 502 },
  PROVIDER_OVERLOADED: { retryable: true, failedAttempt: false, http: 503 },
  PROVIDER_UNAVAILABLE: { retryable: true, failedAttempt: false, http: 502 },
  /** The stream ended without its terminal event after content had been shown. */
  PROVIDER_TRUNCATED: { retryable: true, failedAttempt: false, http: 502 },
  /** Every candidate of the chain failed; the causes are in the details. */
  PROVIDER_CHAIN_EXHAUSTED: { retryable: true, failedAttempt: false, http: 503 },

  // workspaces
  SANDBOX_UNAVAILABLE: { retryable: false, failedAttempt: true, http: 422 },
  WORKSPACE_LOST: { retryable: false, failedAttempt: false, http: 409 },
} as const;

export type ErrorCode = keyof typeof errorCodes;

export interface ErrorOptions {
  cause?: unknown;
  /** One line per fault of an input: where and what was expected. */
  faults?: readonly string[];
  retryAfterMs?: number;
  /** Numbers a program may act on. */
  details?: Readonly<Record<string, unknown>>;
}

/** The one error class. The code stands first in the message because tools show only the message. */
export class NightshiftError extends Error {
  override readonly name = 'NightshiftError';
  readonly code: ErrorCode;
  readonly faults: readonly string[];
  readonly retryAfterMs: number;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(`${code}: ${message}`, { cause: options.cause });
    this.code = code;
    this.faults = options.faults ?? [];
    this.retryAfterMs = options.retryAfterMs ?? 0;
    this.details = options.details ?? {};
  }

  /** The message without the code in front of it. */
  get text(): string {
    return this.message.slice(this.code.length + 2);
  }

  get retryable(): boolean {
    return errorCodes[this.code].retryable;
  }

  /** Normalises anything that was thrown; an unknown fault is INTERNAL with its cause kept. */
  static from(thrown: unknown): NightshiftError {
    if (isNightshiftError(thrown)) return thrown;
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return new NightshiftError('INTERNAL', text, { cause: thrown });
  }
}

/** True across duplicate copies of this package (instanceof is not). */
export function isNightshiftError(thrown: unknown): thrown is NightshiftError {
  return (
    thrown instanceof Error &&
    thrown.name === 'NightshiftError' &&
    'code' in thrown &&
    (thrown as NightshiftError).code in errorCodes
  );
}
