import type { llm, NightshiftError } from '@nightshift/contracts';
import type { JsonObject } from '../classify/json';
import type { FormatName } from '../formats/format';
import type { StopSignal } from '../transport/stop-signal';

/**
 * What one model call tells while it runs. The last event is `finished` or `failed`, exactly one of them; nothing is
 * thrown beside it. Content is only ever of one attempt: before the first piece a call may move on to another provider,
 * after it a fault ends the call.
 */
export type GatewayEvent =
  | { kind: 'attempt'; number: number; provider: string; model: string }
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'tool_call'; providerId: string; name: string }
  | { kind: 'tool_call_arguments'; json: string }
  /** The provider's own bytes, for a caller that speaks its format; then no pieces are told. */
  | { kind: 'raw'; bytes: Buffer }
  | { kind: 'finished'; reply: llm.CompleteReply }
  | { kind: 'failed'; error: NightshiftError; attempts: llm.Attempt[] };

export type Terminal = Extract<GatewayEvent, { kind: 'finished' | 'failed' }>;

/** Takes the events before the terminal one; a promise makes the provider wait. */
export type Emit = (event: Exclude<GatewayEvent, Terminal>) => void | Promise<void>;

/** What stands around a request: who asks, until when, and the way to stop it. */
export interface CallContext {
  team: string;
  signal: StopSignal;
  /** Absolute, milliseconds. */
  deadlineMs: number;
  /** Ask for one body instead of a stream; no deltas then. */
  unstreamed?: boolean;
  /** The request in the caller's own format: its bytes pass through where a candidate speaks the same. */
  native?: NativeRequest;
}

export interface NativeRequest {
  format: FormatName;
  body: Buffer;
  /** `body`, parsed. */
  fields: JsonObject;
}
