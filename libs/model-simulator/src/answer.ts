import { createHash, createHmac } from 'node:crypto';
import type { JsonObject } from './json';

/** What a script decides. */
export interface Move {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
  readonly stop?: Stop;
  /** How the text is cut into stream deltas; by default by a fixed number of characters. */
  readonly deltas?: readonly string[];
  /** Extra time before the first token, for scripts that play a slow model. */
  readonly waitMs?: number;
  /** The script plays a failing model. */
  readonly fail?: true;
}

export type Stop = 'end' | 'calls' | 'length' | 'window' | 'filter' | 'stop_sequence';

export type AnswerBlock =
  | { readonly type: 'reasoning'; readonly id: string; readonly text: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string; readonly deltas: readonly string[] }
  | { readonly type: 'call'; readonly id: string; readonly itemId: string; readonly name: string; readonly json: string };

export interface Usage {
  /** Total input, cache included. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Total output, reasoning included. */
  readonly output: number;
  readonly reasoning: number;
}

export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly createdSeconds: number;
  readonly blocks: readonly AnswerBlock[];
  readonly stop: Stop;
  readonly usage: Usage;
}

/** Ids are derived from the request, so the same request gets the same answer to the last byte. */
export function derivedId(prefix: string, requestHash: string, index: number, length = 24): string {
  return prefix + createHash('sha256').update(`${requestHash}/${prefix}/${index}`).digest('hex').slice(0, length);
}

/** Signature of a reasoning block: lets the server tell an altered block from one that it wrote, without keeping state. */
export function signReasoning(text: string): string {
  return createHmac('sha256', 'nightshift-model-simulator').update(text).digest('base64');
}
