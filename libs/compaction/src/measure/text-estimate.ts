import { emojiWeight, hanWeight, hangulWeight, symbolWeight } from './script-weights';

/** The unit of every sum below: a hundredth of a token. Integers only, so that sums do not depend on their order. */
const unit = 100;
/** Plain prose and code: four characters to a token. */
const plain = 25;
/** Texts are judged in pieces of this many characters, so that one dense part does not make the whole dense, or vanish in it. */
const pieceLength = 512;
/** A piece counts as plain up to this many times what four characters to a token give. */
const plainLimit = 1.2;

const enum Kind {
  Lower,
  Upper,
  Digit,
  Space,
  Newline,
  Mark,
  Wide,
}

/** The kind of every UTF-16 unit: a table, since this runs over every character of every transcript. */
const kinds = new Uint8Array(0x10000).map((_, code) => {
  if (code >= 97 && code <= 122) return Kind.Lower;
  if (code >= 65 && code <= 90) return Kind.Upper;
  if (code >= 48 && code <= 57) return Kind.Digit;
  if (code === 10 || code === 13) return Kind.Newline;
  if (code === 9 || code <= 32) return Kind.Space;
  if (code <= 127) return Kind.Mark;
  // Latin letters with accents are part of the word they stand in.
  return (code >= 0xc0 && code < 0x250) || (code >= 0x1e00 && code < 0x1f00) ? Kind.Lower : Kind.Wide;
});

/**
 * Tokens of a text without a tokenizer: characters / 4 (at least 1) for prose and code; runs for which that undercounts
 * (other scripts, emoji, hex, base64, digits and punctuation) weigh more. Within 0.76 to 1.28 of o200k_base.
 * Linear, about 5 ns a character.
 */
export function estimateText(text: string): number {
  let total = 0;
  const piece = new Piece(text);
  for (let at = 0; at < text.length; ) {
    const start = at;
    const end = Math.min(text.length, start + pieceLength);
    at = piece.read(start, end);
    const flat = piece.narrow * plain;
    total += piece.wide + (piece.dense > flat * plainLimit ? piece.dense : flat);
  }
  return Math.max(1, Math.floor(total / unit));
}

/** Reads one piece of a text: how many ASCII characters, what they cost by their structure, what the others cost. */
class Piece {
  narrow = 0;
  dense = 0;
  wide = 0;

  constructor(private readonly text: string) {}

  /** Reads from `start` to at least `end`; a run that began before `end` is read to its end, or to four pieces. Returns where it stopped. */
  read(start: number, end: number): number {
    this.narrow = this.dense = this.wide = 0;
    let at = start;
    while (at < end) {
      const code = this.text.charCodeAt(at);
      const kind = kinds[code] as Kind;
      if (kind === Kind.Wide) {
        at = this.readWide(at, code);
        continue;
      }
      const from = at;
      switch (kind) {
        case Kind.Lower:
        case Kind.Upper:
        case Kind.Digit:
          at = this.readWord(at);
          break;
        case Kind.Space:
          at = this.readSpace(at);
          break;
        case Kind.Newline:
          at = this.skip(at, Kind.Newline);
          this.dense += 60;
          break;
        case Kind.Mark:
          at = this.readMarks(at);
          break;
      }
      this.narrow += at - from;
    }
    return at;
  }

  private kindAt(at: number): Kind {
    return kinds[this.text.charCodeAt(at)] as Kind;
  }

  private skip(at: number, kind: Kind): number {
    while (at < this.text.length && this.kindAt(at) === kind) at++;
    return at;
  }

  /** A run of letters and digits: a word, a number, or something random such as hex and base64. */
  private readWord(start: number): number {
    const limit = Math.min(this.text.length, start + 4 * pieceLength);
    let at = start;
    let lower = 0;
    let upper = 0;
    let digits = 0;
    let changes = 0;
    let before = this.kindAt(start);
    for (; at < limit; at++) {
      const kind = this.kindAt(at);
      if (kind === Kind.Lower) lower++;
      else if (kind === Kind.Upper) upper++;
      else if (kind === Kind.Digit) digits++;
      else break;
      if (this.text.charCodeAt(at) > 127) this.wide += 14;
      // "Word" is one run, "camelCase" two: upper to lower is no change.
      if (kind !== before && !(before === Kind.Upper && kind === Kind.Lower)) changes++;
      before = kind;
    }
    const length = at - start;
    if (digits === length) this.dense += Math.ceil(length / 3) * unit;
    else if (length >= 8 && length < (changes + 1) * 4) this.dense += length * (lower > 0 && upper > 0 ? 68 : 56);
    else if (length > 24 && changes * 12 < length) this.dense += length * 45;
    else {
      const letters = length - digits;
      const words = changes + 1;
      this.dense += words * unit + Math.max(0, letters - words * 8) * 22;
    }
    return at;
  }

  private readSpace(start: number): number {
    const at = this.skip(start, Kind.Space);
    const next = at < this.text.length ? this.kindAt(at) : Kind.Newline;
    if (next === Kind.Digit) this.dense += unit;
    else if (at - start > 1) this.dense += 90;
    return at;
  }

  private readMarks(start: number): number {
    const first = this.text.charCodeAt(start);
    let at = start;
    let same = true;
    for (; at < this.text.length && this.kindAt(at) === Kind.Mark; at++) if (this.text.charCodeAt(at) !== first) same = false;
    const length = at - start;
    if (length === 1) {
      const next = at < this.text.length ? this.kindAt(at) : Kind.Newline;
      this.dense += next === Kind.Lower || next === Kind.Upper ? 55 : 100;
    } else if (same) this.dense += 100 + length * 3;
    else this.dense += 100 + (length - 2) * 52;
    return at;
  }

  private readWide(at: number, code: number): number {
    if (code >= 0xd800 && code <= 0xdbff && at + 1 < this.text.length) {
      this.wide += astralWeight(this.text.codePointAt(at) ?? code);
      return at + 2;
    }
    this.wide += wideWeight(code);
    return at + 1;
  }
}

function astralWeight(code: number): number {
  if (code >= 0x1f300 && code <= 0x1faff) return emojiWeight(code);
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return 170;
  return code >= 0x20000 && code <= 0x3ffff ? 350 : 260;
}

/** Hundredths of a token for one character outside ASCII, by script. */
function wideWeight(code: number): number {
  if (code < 0x250) return 32;
  if (code < 0x370) return 60;
  if (code < 0x400) return 36;
  if (code < 0x530) return 30;
  if (code < 0x900) return 37;
  if (code < 0x980) return 30;
  if (code < 0x1200) return 50;
  if (code >= 0x2010 && code <= 0x2027) return 60;
  if (code >= 0x200b && code <= 0x200f) return 80;
  if (code >= 0x2000 && code <= 0x2bff) return symbolWeight(code);
  if (code >= 0x3000 && code <= 0x303f) return 75;
  if (code >= 0x3040 && code <= 0x30ff) return 78;
  if (code >= 0x3400 && code <= 0x9fff) return hanWeight(code);
  if (code >= 0xac00 && code <= 0xd7a3) return hangulWeight(code);
  if (code >= 0xfe00 && code <= 0xfe0f) return 100;
  return code >= 0xff00 && code <= 0xffef ? 90 : 220;
}
