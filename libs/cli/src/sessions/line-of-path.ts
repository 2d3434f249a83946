/** A string, a mark, or a run of anything else that is no space; valid JSON is nothing but these. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/gy;
const space = /\s*/y;

interface Token {
  readonly text: string;
  readonly at: number;
}

/**
 * The line (1 = first) on which the value at a path stands, or the nearest one around it that is there: a missing field is
 * missing from the object that begins on that line. One walk over the text, by which no value is built.
 * @param text valid JSON. @param path keys and indices from the outermost value.
 */
export function lineOfPath(text: string, path: readonly PropertyKey[]): number {
  const tokens = tokensOf(text);
  let at = tokens.next().value?.at ?? 0;
  let opened = text[at];
  for (const step of path) {
    const value = opened === '{' || opened === '[' ? enter(tokens, opened, String(step)) : undefined;
    if (!value) break;
    at = value.at;
    opened = value.text;
  }
  return lineAt(text, at);
}

/** Walks the members of the object or list just opened, up to the one with this key or index. */
function enter(tokens: Iterator<Token, undefined>, opened: string, step: string): Token | undefined {
  for (let index = 0; ; index++) {
    let next = tokens.next().value;
    if (next?.text === ',') next = tokens.next().value;
    if (!next || next.text === '}' || next.text === ']') return undefined;
    const key = opened === '{' ? (JSON.parse(next.text) as string) : String(index);
    if (opened === '{') {
      tokens.next();
      next = tokens.next().value;
    }
    if (!next || key === step) return next;
    skip(tokens, next);
  }
}

/** Reads to the end of the value that begins with this token. */
function skip(tokens: Iterator<Token, undefined>, first: Token): void {
  let depth = 0;
  for (let next: Token | undefined = first; next; next = tokens.next().value) {
    if (next.text === '{' || next.text === '[') depth++;
    else if (next.text === '}' || next.text === ']') depth--;
    if (depth === 0) return;
  }
}

function* tokensOf(text: string): Generator<Token, undefined> {
  for (let at = 0; ; ) {
    space.lastIndex = at;
    space.test(text);
    token.lastIndex = space.lastIndex;
    const found = token.exec(text);
    if (!found) return undefined;
    at = token.lastIndex;
    yield { text: found[0], at: found.index };
  }
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++;
  return line;
}
