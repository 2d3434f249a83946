/** What can end an exchange without an answer of the server. `aborted` is ours and says nothing about the provider. */
export const transportFaults = [
  'refused',
  'reset',
  'dns',
  'tls',
  'connect_timeout',
  'headers_timeout',
  'first_content_timeout',
  'idle_timeout',
  'total_timeout',
  'aborted',
  'unreadable',
] as const;
export type TransportFaultKind = (typeof transportFaults)[number];

/** Thrown by the transport only; the classification table turns it into an error class. */
export class TransportFault extends Error {
  override readonly name = 'TransportFault';
  constructor(
    readonly kind: TransportFaultKind,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
  }
}

const byCode: Readonly<Record<string, TransportFaultKind>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EACCES: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ETIMEDOUT: 'connect_timeout',
};

/** Maps an error of node:net, node:tls or node:http. A cut body shows as ECONNRESET, EPIPE, "aborted" or a premature close. */
export function faultOf(thrown: unknown): TransportFault {
  if (thrown instanceof TransportFault) return thrown;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const kind = byCode[code] ?? (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/.test(code) ? 'tls' : 'reset');
  return new TransportFault(kind, code ? `${code} (${error.message})` : error.message, { cause: error });
}
