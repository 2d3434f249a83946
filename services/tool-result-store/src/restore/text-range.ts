/** A part of a text, in UTF-16 code units as JavaScript counts characters. */
export interface TextRange {
  text: string;
  /** More follows. */
  truncated: boolean;
}

/** A boundary inside a surrogate pair moves in front of it; the same rule at both ends makes pages join without gap or overlap. */
function boundary(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  const splitsPair = /[\uDC00-\uDFFF]/.test(text[at] ?? '') && /[\uD800-\uDBFF]/.test(text[at - 1] ?? '');
  return splitsPair ? at - 1 : at;
}

/** `limit` 0 = to the end; never more than `maxChars` (0 = no bound). */
export function textRange(text: string, offset: number, limit: number, maxChars: number): TextRange {
  const wanted = limit === 0 ? text.length : limit;
  const length = maxChars === 0 ? wanted : Math.min(wanted, maxChars);
  const start = boundary(text, offset);
  const end = boundary(text, offset + length);
  return { text: text.slice(start, end), truncated: end < text.length };
}
