import { NightshiftError } from '@nightshift/contracts';

const maxLength = 255;

/**
 * The Idempotency-Key of a request, undefined when it has none.
 * @throws NightshiftError INVALID_ARGUMENT for an empty, overlong or unprintable one.
 */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (/^[\x21-\x7e]+$/.test(header) && header.length <= maxLength) return header;
  throw new NightshiftError('INVALID_ARGUMENT', 'the request has one fault', {
    faults: [`Idempotency-Key: expected 1 to ${maxLength} printable ASCII characters without spaces`],
  });
}
