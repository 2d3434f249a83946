import type { Answer } from '../answer';
import type { FormatName, ModelSpec } from '../config/model-spec';
import type { Conversation, Segment } from '../conversation';
import type { JsonObject } from '../json';
import type { Vendor, VendorContext } from '../vendors/vendor';

/** A request after its format's strict reading. */
export interface WireRequest {
  readonly conversation: Conversation;
  readonly segments: readonly Segment[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly requestedOutput?: number;
  readonly endsWithAssistant: boolean;
  /** The caller allows the oldest messages to be dropped without a word. */
  readonly truncate?: boolean;
  /** Responses: reasoning items carry their encrypted content. */
  readonly encryptedReasoning?: boolean;
  /** Ollama: the window that the caller wants the model loaded with. */
  readonly numCtx?: number;
  /** Ollama: nothing is asked; the model is to be loaded or unloaded. */
  readonly loadOnly?: 'load' | 'unload';
}

/** What a frame is for; faults cut, stall and drop by it. */
export type FrameKind = 'open' | 'delta' | 'close' | 'terminator';

export interface Frame {
  readonly kind: FrameKind;
  readonly wire: string;
}

export interface WriteContext extends VendorContext {
  readonly spec: ModelSpec;
  readonly vendor: Vendor;
  readonly request: WireRequest;
  /** Usage as a fault wants it: left out, or as nulls on every chunk. */
  readonly usageFault?: 'no_usage' | 'null_usage_chunks';
}

/** One wire format. Reading throws Refusal where the vendor would refuse. */
export interface Format {
  readonly name: FormatName;
  readonly streamType: string;
  /** A broken chunk, framed as this format frames its chunks. */
  readonly malformed: string;
  readonly tokenFactor: number;
  readonly read: (body: JsonObject, spec: ModelSpec, vendor: Vendor) => WireRequest;
  readonly frames: (answer: Answer, context: WriteContext) => Frame[];
  readonly body: (answer: Answer, context: WriteContext) => unknown;
  /** An error as a frame of a stream that has begun. */
  readonly errorFrame: (error: unknown, context: WriteContext, form: 'default' | 'error_event') => string;
  /** Frames that open a stream without any content. */
  readonly emptyFrames: (answer: Answer, context: WriteContext) => Frame[];
  /** A refusal told inside a stream, where the format has a form for it. */
  readonly failedFrames?: (error: unknown, context: WriteContext) => Frame[];
}

export function sse(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return event === undefined ? `data: ${text}\n\n` : `event: ${event}\ndata: ${text}\n\n`;
}
