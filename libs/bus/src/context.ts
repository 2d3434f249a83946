/**
 * What a handler is told about the message it works on. A class only so that decorated parameters have a run-time type.
 */
export abstract class BusContext {
  abstract readonly team: string;
  /** One signal for deadline passed, caller gone and shutdown; its `reason` is a NightshiftError. */
  abstract readonly signal: AbortSignal;
  /** Absolute, milliseconds since 1970; Infinity for commands and events, whose sign of life is kept up by the bus. */
  abstract readonly deadlineMs: number;
  /** 1 for the first delivery; always 1 for requests. */
  abstract readonly delivery: number;
  abstract readonly redelivered: boolean;
  abstract readonly subject: string;
  /** The message as it came, encoded: whoever needs a hash of it need not encode it again. */
  abstract readonly encoded: Uint8Array;
  /** The last tokens of a keyed subject. */
  abstract readonly key?: string;
  /** `Nats-Msg-Id` of a command or event. */
  abstract readonly messageId?: string;
}

/** Team of messages that belong to no team: announcements of runners, polls, observed windows. */
export const systemTeam = 'system';
