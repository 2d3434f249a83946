import type { JsonObject } from './json';

/** What a script sees: the transcript of one request, whatever the wire format was. */
export interface Conversation {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly string[];
  readonly turns: readonly Turn[];
  /** Largest answer the caller asked for, in tokens. */
  readonly requestedOutput?: number;
}

export type Turn = UserTurn | AssistantTurn | ResultsTurn;

export interface UserTurn {
  readonly role: 'user';
  /** One per text part; images appear as `[image]`. */
  readonly texts: readonly string[];
}

export interface AssistantTurn {
  readonly role: 'assistant';
  readonly text: string;
  readonly calls: readonly Call[];
}

export interface ResultsTurn {
  readonly role: 'results';
  readonly results: readonly Result[];
}

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface Result {
  readonly callId: string;
  readonly text: string;
  readonly isError: boolean;
}

/** A part of the request in the order in which the vendor's prompt cache sees it: tools, system, then message by message. */
export interface Segment {
  /** Everything in it that costs tokens. */
  readonly text: string;
  readonly images: number;
  /** A message carries a fixed overhead, the tools and the system prompt do not. */
  readonly message: boolean;
  /** Anthropic: a cache breakpoint stands at its end. */
  readonly cacheMark: boolean;
}
