/** PEM files of the server; with `clientCaFile` only clients with a certificate of that authority are let in. */
export interface ServerTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile?: string;
}

/** The block of `nats.conf` that makes the server speak TLS only. */
export function tlsBlock({ certFile, keyFile, clientCaFile }: ServerTls): string {
  const client = clientCaFile === undefined ? [] : [`  ca_file: ${JSON.stringify(clientCaFile)}`, '  verify: true'];
  return [
    'tls: {',
    `  cert_file: ${JSON.stringify(certFile)}`,
    `  key_file: ${JSON.stringify(keyFile)}`,
    ...client,
    '  # Seconds for the handshake; the default of 0.5 is short for a busy machine.',
    '  timeout: 5',
    '}',
    '',
  ].join('\n');
}

/** `nats-tls.conf`: everything of `nats.conf`, and TLS with the files that a secret or a folder of the host provides. */
export function natsTlsConfig(): string {
  return `include "./nats.conf"\n${tlsBlock({ certFile: '/etc/nats-tls/tls.crt', keyFile: '/etc/nats-tls/tls.key' })}`;
}
