import type { transcript } from '@nightshift/contracts';
import type { Json, JsonObject } from '../classify/json';
import type { Exchange } from '../transport/exchange';
import type { Frame, FrameReader } from '../transport/frames';
import type { UsageNumbers } from '../usage/normal-usage';
import type { VendorQuirks } from '../vendors/vendor';

export const formatNames = ['anthropic-messages', 'openai-chat', 'openai-responses', 'ollama-chat'] as const;
export type FormatName = (typeof formatNames)[number];

/** One understood piece of an answer. `block` numbers the block that the piece belongs to, in the provider's order. */
export type AnswerEvent =
  | { kind: 'text'; block: number; text: string }
  | { kind: 'reasoning'; block: number; text: string }
  /** Closes a reasoning block with what its signer wants to see again. */
  | { kind: 'reasoning_seal'; block: number; signature?: string; opaqueJson?: string }
  | { kind: 'tool_call'; block: number; providerId: string; name: string }
  | { kind: 'tool_call_arguments'; block: number; json: string }
  | { kind: 'stop'; reason: transcript.StopReason }
  | { kind: 'model'; model: string }
  /** The proper end of the dialect was seen. */
  | { kind: 'end' }
  /** An error object, whatever the HTTP status. */
  | { kind: 'error'; body: Json }
  | { kind: 'malformed'; text: string };

/** Reads the frames of one streamed answer. Pure: no clock, no I/O. */
export interface StreamDecoder {
  push(frame: Frame): AnswerEvent[];
  /** The body ended; emits `end` if what was seen counts as a proper end without a terminal marker. */
  finish(): AnswerEvent[];
  /** Usage so far. */
  usage(): { numbers: UsageNumbers; raw: JsonObject };
}

export interface BuildOptions {
  model: string;
  provider: string;
  /** 0 = leave out where the format allows it. */
  maxOutputTokens: number;
  temperature: number | undefined;
  toolChoice: 'auto' | 'none' | 'required';
  stream: boolean;
  /** Context size to ask for (Ollama only); 0 = leave out. */
  numCtx: number;
  /** Drop reasoning blocks, whoever signed them (the repair of a refused signature). */
  dropReasoning: boolean;
  quirks: VendorQuirks;
}

export interface BuiltRequest {
  body: JsonObject;
  /** What the target cannot take and was therefore dropped or changed, one line each. */
  translations: string[];
}

/** Where and with which credential an attempt goes. */
export interface Target {
  baseUrl: string;
  apiKey: string;
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  quirks: VendorQuirks;
}

/** An endpoint with the headers it wants; header names in lower case. */
export interface Address {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** One wire format. The four folders hold the same files: index, request, call, stream, usage. */
export interface Format {
  /** A request without an output limit is refused. */
  outputIsMandatory: boolean;
  name: FormatName;
  build(view: transcript.View, options: BuildOptions): BuiltRequest;
  /** Sends `body` through the exchange; resolves once the headers of a 2xx are there, rejects otherwise. */
  call(target: Target, body: string, exchange: Exchange): Promise<void>;
  /** Where raw requests go, with credentials. */
  address(target: Target): Address;
  frames(): FrameReader;
  decoder(): StreamDecoder;
  /** How this dialect tells an error inside a stream. */
  errorFrame(code: string, message: string): string;
  /** The events of an answer that came in one body; ends with `end` or `error`. */
  readBody(body: Json): { events: AnswerEvent[]; numbers: UsageNumbers; raw: JsonObject };
}
