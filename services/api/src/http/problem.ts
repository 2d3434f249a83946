import { errorCodes, NightshiftError, type ErrorCode } from '@nightshift/contracts';
import type { Json } from './present';

/** An error as RFC 9457 wants it, with our code and every fault of the input. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: ErrorCode;
  faults?: string[];
  retryAfterMs?: number;
  details?: Json;
}

const titles: Partial<Record<ErrorCode, string>> = {
  INVALID_ARGUMENT: 'The request is not valid',
  UNAUTHENTICATED: 'No valid API key',
  PERMISSION_DENIED: 'The key may not do this',
  NOT_FOUND: 'Not found',
  PAYLOAD_TOO_LARGE: 'The body is too large',
  BUSY: 'Too many requests',
  UNAVAILABLE: 'A part of Nightshift is not available',
  DEADLINE_EXCEEDED: 'No answer in time',
  INTERNAL: 'Something failed inside Nightshift',
};

/**
 * What the caller of the HTTP API sees of an error. The text of an INTERNAL fault stays in the log: it may name tables,
 * paths or values of others.
 */
export function problemOf(error: NightshiftError, instance: string): Problem {
  const problem: Problem = {
    type: `urn:nightshift:problem:${error.code.toLowerCase().replaceAll('_', '-')}`,
    title: titles[error.code] ?? words(error.code),
    status: errorCodes[error.code].http,
    detail: error.code === 'INTERNAL' ? 'The log of the service holds the cause.' : error.text,
    instance,
    code: error.code,
  };
  if (error.faults.length > 0) problem.faults = [...error.faults];
  if (error.retryAfterMs > 0) problem.retryAfterMs = error.retryAfterMs;
  if (error.code !== 'INTERNAL' && Object.keys(error.details).length > 0) problem.details = error.details as Json;
  return problem;
}

function words(code: string): string {
  const text = code.toLowerCase().replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What Nest and Fastify throw before a handler runs, in our codes. `limitBytes`: the configured limit of a body. */
export function fromHttpStatus(status: number, message: string, limitBytes: number): NightshiftError {
  switch (status) {
    case 404:
      return new NightshiftError('NOT_FOUND', 'there is no such operation; /docs lists them');
    case 413:
      return new NightshiftError('PAYLOAD_TOO_LARGE', `a body may have at most ${limitBytes} bytes`, { details: { limitBytes } });
    case 415:
      return invalid('content-type: expected application/json');
    default:
      return status >= 400 && status < 500 ? invalid(`body: ${message}`) : new NightshiftError('INTERNAL', message);
  }
}

function invalid(fault: string): NightshiftError {
  return new NightshiftError('INVALID_ARGUMENT', 'the request cannot be read', { faults: [fault] });
}
