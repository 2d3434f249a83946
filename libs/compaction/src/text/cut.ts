/** Looks this far around a cut for the edge of a grapheme; longer ones (flags in a row, stacked accents) are cut inside. */
const reach = 48;
/** Made when first needed: loading its data takes longer than everything else in this library. */
let segmenter: Intl.Segmenter | undefined;

/** The largest position ≤ `at` where a text may be cut: never inside a surrogate pair, and not inside a grapheme. */
export function cutPosition(text: string, at: number): number {
  if (at >= text.length) return text.length;
  if (at <= 0) return 0;
  // ASCII on both sides is an edge unless it is CR LF: nearly every cut in a tool output ends here.
  const left = text.charCodeAt(at - 1);
  const right = text.charCodeAt(at);
  if (left < 128 && right < 128) return left === 13 && right === 10 ? at - 1 : at;
  let from = Math.max(0, at - reach);
  if (isLowSurrogate(text, from)) from--;
  const offset = at - from;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let edge = 0;
  for (const { index } of segmenter.segment(text.slice(from, at + reach))) {
    if (index > offset) break;
    edge = index;
  }
  // At the start of the text that is the edge of its first grapheme; elsewhere the window began inside a longer one.
  if (edge > 0 || from === 0) return from + edge;
  return isLowSurrogate(text, at) ? at - 1 : at;
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}

/** At most the first `max` UTF-16 units of a text, well formed. */
export function head(text: string, max: number): string {
  return text.slice(0, cutPosition(text, max));
}

/** At most the last `max` UTF-16 units of a text, well formed. */
export function tail(text: string, max: number): string {
  if (text.length <= max) return text;
  let at = text.length - max;
  if (isLowSurrogate(text, at)) at++;
  const cut = cutPosition(text, at);
  // The cut before `at` would make the piece too long: go on to the next edge instead.
  if (cut === at) return text.slice(at);
  const next = cutPosition(text, Math.min(text.length, at + reach));
  return text.slice(next > at ? next : at);
}

/** The first lines with something in them, each cut to `maxChars`, on one line each. */
export function headLines(text: string, count: number, maxChars: number): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length < count; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, Math.min(end < 0 ? text.length : end, at + 4 * maxChars)).trim();
    if (line !== '') lines.push(head(line, maxChars));
    if (end < 0) break;
    at = end + 1;
  }
  return lines;
}
