/** Message headers. `Nats-Msg-Id` is the server's own name. */
export const headerNames = {
  team: 'Ns-Team',
  /** Absolute, milliseconds since 1970. */
  deadline: 'Ns-Deadline',
  messageId: 'Nats-Msg-Id',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  /** heartbeat | result | error, on replies. */
  reply: 'Ns-Reply',
  /** Subject on which the caller of a long request says that it still waits. */
  keepAlive: 'Ns-Keep-Alive',
  /** Bytes of a body that travels through the object store: its object name. */
  claimCheck: 'Ns-Claim-Check',
} as const;

/** Commands and events above this many bytes are refused by the bus: bodies stay in their owner's database. */
export const maxCommandBytes = 64 * 1024;
/** `max_payload` of our server configuration, in bytes. */
export const maxPayloadBytes = 8 * 1024 * 1024;
/** The part of a request or reply body that is safe below `max_payload` with headers, in bytes. */
export const maxBodyBytes = maxPayloadBytes - 64 * 1024;
