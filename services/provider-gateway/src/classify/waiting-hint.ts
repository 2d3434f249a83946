import type { Envelope } from './envelope';

/** Header names in lower case. */
export type HeaderMap = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A hint above this is no wait but a closed account or an oversized request, in milliseconds (Azure answers 86400 s). */
export const longestBelievableWait = 60 * 60_000;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Go and protobuf durations: `6m0s`, `20ms`, `1.5s`, `36.43s`. Undefined for anything else, a bare number included. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g))
    sum += Number(amount) * (unitMs[unit ?? ''] ?? NaN);
  return Math.ceil(sum);
}

/**
 * A point in time as RFC 3339 or one of the three forms of an HTTP date. Numbers are refused before `Date.parse` sees
 * them: it reads "-3", "1.5" and "0" as days of the years 2000 and 2001.
 */
export function parseInstant(text: string, now: number): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT|^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  // The asctime form carries no zone and means UTC; Date.parse would read it as local time.
  const at = Date.parse(/^[A-Z][a-z]{2} [A-Z]/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** `Retry-After`: seconds (decimals too), a duration or a date. Junk and negative numbers give undefined, a past date 0. */
export function parseRetryAfter(text: string, now: number): number | undefined {
  const value = text.trim();
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000);
  return parseDuration(value) ?? parseInstant(value, now);
}

function milliseconds(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text.trim()) ? Math.ceil(Number(text)) : undefined;
}

const inText = [
  /(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|h|m|s)(?![a-z]))+)/i,
  /(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(?:seconds?|secs?)\b/i,
] as const;

function hintInText(message: string): number | undefined {
  for (const pattern of inText) {
    const found = pattern.exec(message)?.[1];
    if (found !== undefined) return parseDuration(found.replaceAll(' ', '')) ?? parseRetryAfter(found, 0);
  }
  return undefined;
}

/**
 * How long the provider asks to wait, in milliseconds from `now`; undefined when it gives no usable hint.
 * Explicit hints first (headers, then body, then text); bucket resets only where the bucket says it is empty.
 */
export function waitingHint(headers: HeaderMap, envelope: Envelope, now: number): number | undefined {
  const header = (name: string): string => {
    const value = headers[name];
    return typeof value === 'string' ? value : (value?.[0] ?? '');
  };
  return (
    milliseconds(header('retry-after-ms')) ??
    milliseconds(header('x-ms-retry-after-ms')) ??
    parseRetryAfter(header('retry-after'), now) ??
    bodyHint(envelope, now) ??
    hintInText(envelope.message) ??
    milliseconds(seconds(header('x-codex-primary-reset-after-seconds'))) ??
    resetOfEmptyBucket(header, now)
  );
}

function seconds(text: string): string {
  return /^\d+$/.test(text) ? `${text}000` : '';
}

function bodyHint(envelope: Envelope, now: number): number | undefined {
  if (envelope.resetsInSeconds !== undefined) return envelope.resetsInSeconds * 1_000;
  if (envelope.resetsAtSeconds !== undefined) return Math.max(0, envelope.resetsAtSeconds * 1_000 - now);
  return parseDuration(envelope.retryDelay);
}

const buckets = [
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'],
  ['anthropic-ratelimit-input-tokens-remaining', 'anthropic-ratelimit-input-tokens-reset'],
  ['anthropic-ratelimit-output-tokens-remaining', 'anthropic-ratelimit-output-tokens-reset'],
] as const;

/** Azure sends -1 and 0 as placeholders: a reset of 0 is no hint. */
function resetOfEmptyBucket(header: (name: string) => string, now: number): number | undefined {
  let longest: number | undefined;
  for (const [remaining, reset] of buckets) {
    if (header(remaining) !== '0') continue;
    const wait = parseDuration(header(reset)) ?? parseInstant(header(reset), now);
    if (wait) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}
