import { ErrorCode, NatsError } from 'nats';
import { isNightshiftError, NightshiftError } from '@nightshift/contracts';

/** JetStream: the stream refuses new messages (discard new). */
const fullCodes = [10077, 10025, 10047, 10023];

/** What the client threw, as one of our errors. */
export function fromNats(thrown: unknown, what: string): NightshiftError {
  if (isNightshiftError(thrown)) return thrown;
  if (!(thrown instanceof NatsError)) return NightshiftError.from(thrown);
  const options = { cause: thrown };
  const api = thrown.api_error;
  if (api && fullCodes.includes(api.err_code ?? 0))
    return new NightshiftError('BUSY', `${what}: the queue is full`, { ...options, retryAfterMs: 5_000 });
  switch (thrown.code) {
    case ErrorCode.MaxPayloadExceeded as string:
      return new NightshiftError('PAYLOAD_TOO_LARGE', `${what}: larger than the server's max_payload`, options);
    case ErrorCode.PermissionsViolation as string:
    case ErrorCode.AuthorizationViolation as string:
      return new NightshiftError('PERMISSION_DENIED', `${what}: ${thrown.message}`, options);
    case ErrorCode.JetStream404NoMessages as string:
      return new NightshiftError('NOT_FOUND', `${what}: ${thrown.message}`, options);
    default:
      return new NightshiftError('UNAVAILABLE', `${what}: ${thrown.message}`, { ...options, retryAfterMs: 1_000 });
  }
}
