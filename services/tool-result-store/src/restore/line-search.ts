/** What restore_tool_result with `search` answers. */
export interface LineMatches {
  /** `12: the line`, one per line. */
  text: string;
  /** All matching lines, shown or not. */
  matches: number;
  truncated: boolean;
}

export interface LineSearch {
  search: string;
  /** Matches to skip. */
  offset: number;
  /** Matches to show; 0 = as many as fit. */
  limit: number;
  /** Characters of the answer; 0 = no bound. */
  maxChars: number;
}

/** A line of minified code must not fill the answer: this much of it is shown, around the match. */
const longestLine = 400;

/**
 * Lines that contain `search`, literally; letters match in either case unless the search has an upper-case one. Literal,
 * since a pattern chosen by a model could take exponential time.
 */
export function searchLines(text: string, request: LineSearch): LineMatches {
  const exact = request.search !== request.search.toLowerCase();
  const needle = exact ? request.search : request.search.toLowerCase();
  const shown: string[] = [];
  let matches = 0;
  let chars = 0;
  let full = false;
  let number = 0;
  for (const line of lines(text)) {
    number += 1;
    const at = (exact ? line : line.toLowerCase()).indexOf(needle);
    if (at < 0) continue;
    matches += 1;
    if (matches <= request.offset || full) continue;
    const row = `${number}: ${around(line, at, needle.length)}`;
    const fits = request.maxChars === 0 || chars + row.length + 1 <= request.maxChars || shown.length === 0;
    full = !fits || (request.limit !== 0 && shown.length >= request.limit);
    if (full) continue;
    shown.push(request.maxChars === 0 ? row : row.slice(0, request.maxChars));
    chars += row.length + 1;
  }
  return { text: shown.join('\n'), matches, truncated: matches > request.offset + shown.length };
}

function* lines(text: string): Generator<string> {
  let start = 0;
  while (start <= text.length) {
    const end = text.indexOf('\n', start);
    if (end < 0) {
      if (start < text.length) yield text.slice(start);
      return;
    }
    yield text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
    start = end + 1;
  }
}

function around(line: string, at: number, length: number): string {
  if (line.length <= longestLine) return line;
  const start = Math.max(0, Math.min(at - Math.floor((longestLine - length) / 2), line.length - longestLine));
  const part = line.slice(start, start + longestLine).toWellFormed();
  return `${start > 0 ? '…' : ''}${part}${start + longestLine < line.length ? '…' : ''}`;
}
