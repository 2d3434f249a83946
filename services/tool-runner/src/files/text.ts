/** True when the bytes do not look like text: a zero byte in the first 8 KB, or no valid UTF-8. */
export function isBinary(content: Uint8Array): boolean {
  if (content.subarray(0, 8192).includes(0)) return true;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(content);
    return false;
  } catch {
    // TextDecoder throws for nothing else than malformed input.
    return true;
  }
}

/** The first `chars` UTF-16 units without a cut surrogate pair (protobuf refuses a lone half). */
export function head(text: string, chars: number): string {
  return text.slice(0, chars).toWellFormed().replace(/�$/, '');
}

/** The last `chars` UTF-16 units without a cut surrogate pair. */
export function tail(text: string, chars: number): string {
  return chars <= 0 ? '' : text.slice(-chars).toWellFormed().replace(/^�/, '');
}

/** Start of every line; lines keep their line feed when cut at these offsets. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0 && at + 1 < text.length; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** What differs between two texts, as line ranges: the part between the common beginning and the common end. */
export function changedLines(
  before: string,
  after: string,
): { from: number; oldTo: number; newTo: number; now: string } | undefined {
  if (before === after) return undefined;
  const old = before.split('\n');
  const now = after.split('\n');
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return {
    from: start + 1,
    oldTo: old.length - end,
    newTo: now.length - end,
    now: now.slice(start, now.length - end).join('\n'),
  };
}
