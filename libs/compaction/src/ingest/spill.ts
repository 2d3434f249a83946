import { head, tail } from '../text/cut';

/** A tool result above this many characters goes to the store, with a preview in its place. */
export const spillChars = 20_000;
/** A preview is shorter than this many characters. */
export const previewChars = 3_000;
/** Preview of a first message that takes more than a quarter of H, in characters. */
export const firstMessagePreviewChars = 8_000;

export interface PreviewInput {
  readonly text: string;
  /** What restore_tool_result takes. */
  readonly storedId: string;
  /** Length limit of the whole preview, in characters; the preview stays below it. */
  readonly maxChars?: number;
}

/** Beginning and end of a long text, and how to get the rest. Always shorter than `maxChars`. */
export function previewOf(input: PreviewInput): string {
  const max = input.maxChars ?? previewChars;
  const { text } = input;
  const notice = (left: number): string =>
    `\n[… ${left} of ${text.length} characters are stored: restore_tool_result {"id":"${input.storedId}","offset":…,"limit":…} or {"search":…}]\n`;
  const room = max - 1 - notice(text.length).length;
  if (room < 40) return head(notice(text.length).trim(), max - 1);
  const end = tail(text, Math.floor(room / 4));
  // A text that would fit whole: the two pieces must not overlap, or the count of what is left turns negative.
  const start = head(text, Math.min(room, text.length) - end.length);
  return `${start}${notice(text.length - start.length - end.length)}${end}`;
}

export interface BatchResult {
  readonly id: string;
  readonly chars: number;
  /** Plain estimate, in tokens. */
  readonly tokens: number;
}

/**
 * Which results of one batch to spill: those above the limit, then the largest ones until the rest fits the batch's share.
 * @param batchTokens 25 % of Q (`budgetsFor().batch`)
 */
export function planSpill(results: readonly BatchResult[], batchTokens: number, limitChars = spillChars): string[] {
  const spilled = new Set(results.filter((result) => result.chars > limitChars).map((result) => result.id));
  const previewTokens = Math.ceil(previewChars / 4);
  let total = 0;
  for (const result of results) total += spilled.has(result.id) ? Math.min(previewTokens, result.tokens) : result.tokens;
  const rest = results.filter((result) => !spilled.has(result.id)).sort((a, b) => b.tokens - a.tokens || (a.id < b.id ? -1 : 1));
  for (const result of rest) {
    if (total <= batchTokens || result.tokens <= previewTokens) break;
    spilled.add(result.id);
    total -= result.tokens - previewTokens;
  }
  return results.filter((result) => spilled.has(result.id)).map((result) => result.id);
}

/** Length limit of each preview of a batch, in characters: many of them together must stay within the batch's share too. */
export function previewCharsFor(spilledCount: number, batchTokens: number): number {
  const share = Math.floor((batchTokens * 4) / Math.max(1, spilledCount));
  return Math.max(200, Math.min(previewChars, share));
}

/**
 * How many characters a file read or a restore may return; the rest comes by range. Three characters to a token, since
 * what is read is often dense.
 * @param room tokens left below T′
 * @param changeable Q, in tokens
 */
export function readChars(room: number, changeable: number, limitChars = spillChars): number {
  const tokens = Math.min(Math.floor(room / 2), Math.floor(changeable / 5));
  return Math.max(500, Math.min(limitChars, tokens * 3));
}

/** Whether the first message of a task is spilled at submission. Both in tokens. */
export function spillsFirstMessage(estimate: number, hardLimit: number): boolean {
  return estimate * 4 > hardLimit;
}
