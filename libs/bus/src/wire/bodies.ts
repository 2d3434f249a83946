import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { error as wire, errorCodes, isNightshiftError, NightshiftError, type ErrorCode } from '@nightshift/contracts';

export function encodeBody<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Uint8Array {
  return toBinary(schema, create(schema, init));
}

/** Throws INVALID_ARGUMENT when the bytes are no such message. */
export function decodeBody<D extends DescMessage>(schema: D, body: Uint8Array): MessageShape<D> {
  try {
    return fromBinary(schema, body);
  } catch (cause) {
    throw new NightshiftError('INVALID_ARGUMENT', `expected a ${schema.typeName}`, { cause });
  }
}

/** Code, faults, hint and details survive the wire; the cause stays in this process, for the log. */
export function encodeError(thrown: unknown): Uint8Array {
  const fault = NightshiftError.from(thrown);
  const detailed = Object.keys(fault.details).length > 0;
  return encodeBody(wire.ErrorSchema, {
    code: fault.code,
    message: fault.text,
    faults: [...fault.faults],
    retryAfterMs: Math.max(0, Math.ceil(fault.retryAfterMs)),
    detailsJson: detailed
      ? JSON.stringify(fault.details, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))
      : '',
  });
}

export function decodeError(body: Uint8Array): NightshiftError {
  const fault = decodeBody(wire.ErrorSchema, body);
  // A newer peer may know more codes; what it meant is kept in the text.
  const known = fault.code in errorCodes;
  return new NightshiftError(
    known ? (fault.code as ErrorCode) : 'INTERNAL',
    known ? fault.message : `${fault.code}: ${fault.message}`,
    {
      faults: fault.faults,
      retryAfterMs: fault.retryAfterMs,
      details: fault.detailsJson === '' ? {} : (JSON.parse(fault.detailsJson) as Record<string, unknown>),
    },
  );
}

/** The reason of an aborted signal as one of our errors. */
export function abortReason(signal: AbortSignal): NightshiftError {
  const reason: unknown = signal.reason;
  if (isNightshiftError(reason)) return reason;
  return new NightshiftError('CANCELLED', 'the caller gave up', { cause: reason });
}
