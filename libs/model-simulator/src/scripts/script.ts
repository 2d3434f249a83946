import type { Move } from '../answer';
import type { Conversation } from '../conversation';

/** The next move is a pure function of the transcript received: a repeated request changes nothing. */
export interface Script {
  readonly next: (conversation: Conversation) => Move;
}

export type ScriptOptions = Readonly<Record<string, unknown>>;
