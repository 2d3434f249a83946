/** Pieces of a text for a stream, never inside a surrogate pair. */
export function cut(text: string, chars: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = Math.min(text.length, from + chars);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to++;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
