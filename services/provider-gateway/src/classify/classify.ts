import type { TransportFault } from '../transport/fault';
import { errorIn, errorOfFailedBody, readEnvelope } from './envelope';
import type { ErrorClass } from './error-class';
import type { Evidence } from './evidence';
import { parseJson, type Json } from './json';
import { rules } from './rules';
import { readSizes, type Sizes } from './sizes';
import { waitingHint, type HeaderMap } from './waiting-hint';

/** What an attempt ended with, as the transport and the decoders saw it. */
export interface Failure {
  status: number;
  headers: HeaderMap;
  /** Body of an error status, or the frame that held the error. */
  text: string;
  /** The frame, when it was parsed already. */
  json?: Json;
  inBand: boolean;
  fault?: TransportFault;
  /** Set by the stream readers, which see what no error object says. */
  stream?: { class: 'empty' | 'malformed' | 'truncated'; message: string };
}

export interface Classified {
  class: ErrorClass;
  /** Row of the table that decided. */
  rule: string;
  code: string;
  type: string;
  message: string;
  status: number;
  sizes: Sizes;
  /** Input plus reserved output is too large; the input alone may fit. */
  sum: boolean;
  /** The text that the sizes were read from, for the registry. */
  pattern: string;
  /** How long the provider asks to wait, in milliseconds. */
  waitMs: number | undefined;
  inBand: boolean;
}

/**
 * One failed attempt into its class. Pure: `now` only serves waiting hints that are points in time.
 * @param emptyBodyMeansOverflow the vendor's row says so
 */
export function classify(failure: Failure, now: number, emptyBodyMeansOverflow = false): Classified {
  if (failure.stream && !failure.fault) return ofStream(failure, failure.stream);
  const body = failure.json ?? (failure.text ? parseJson(failure.text) : undefined);
  const error = failure.inBand ? errorIn(body) : errorOfFailedBody(body);
  const envelope = readEnvelope(error, failure.text);
  const message = failure.fault?.message ?? envelope.message;
  const structured =
    envelope.promptTokens !== undefined && envelope.contextTokens !== undefined
      ? {
          class: 'overflow' as const,
          pattern: 'structured',
          sizes: { input: envelope.promptTokens, window: envelope.contextTokens, inputExactness: 'exact' as const },
        }
      : undefined;
  const sizes = structured ?? readSizes(message);
  const evidence: Evidence = {
    status: failure.status,
    effectiveStatus: failure.status >= 400 ? failure.status : envelope.status,
    headers: failure.headers,
    inBand: failure.inBand,
    envelope,
    labels: [envelope.code, envelope.type, ...envelope.marks].filter((found) => found !== ''),
    message,
    bodyIsEmpty: failure.text.trim() === '',
    sizes,
    waitMs: waitingHint(failure.headers, envelope, now),
    emptyBodyMeansOverflow,
    fault: failure.fault,
  };
  const rule = rules.find((candidate) => candidate.applies(evidence));
  if (!rule) throw new RangeError('the last rule applies to everything');
  // Only classes that speak of sizes may teach any: "Limit 30000, Requested 30601" is a rate, not a window.
  const teaches = rule.class === 'overflow' || rule.class === 'output_cap';
  return {
    class: rule.class,
    rule: rule.name,
    code: envelope.code || failure.fault?.kind || '',
    type: envelope.type,
    message: message || `HTTP ${failure.status} without a message`,
    status: evidence.effectiveStatus || failure.status,
    sizes: teaches && sizes ? sizes.sizes : {},
    sum: rule.class === 'overflow' && sizes?.class === 'sum',
    pattern: teaches && sizes ? sizes.pattern : '',
    waitMs:
      rule.class === 'rate_limit' || rule.class === 'quota' || rule.class === 'overload' || rule.class === 'server'
        ? evidence.waitMs
        : undefined,
    inBand: failure.inBand,
  };
}

function ofStream(failure: Failure, stream: NonNullable<Failure['stream']>): Classified {
  return {
    class: stream.class,
    rule: `stream-${stream.class}`,
    code: '',
    type: '',
    message: stream.message,
    status: failure.status,
    sizes: {},
    sum: false,
    pattern: '',
    waitMs: undefined,
    inBand: true,
  };
}
