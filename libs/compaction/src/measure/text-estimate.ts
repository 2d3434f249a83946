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

/** Texts are read in blocks of this many characters through one scratch buffer. */
const blockLength = 64 * pieceLength;
const scratch = Buffer.alloc(2 * blockLength);
const units = new Uint16Array(scratch.buffer, scratch.byteOffset, blockLength);

/**
 * Tokens of a text without a tokenizer: characters / 4 (at least 1) for prose and code; runs for which that undercounts
 * (other scripts, emoji, hex, base64, digits and punctuation) weigh more. Within 0.76 to 1.28 of o200k_base.
 * Linear. One function with plain loops, since it runs over every character of every transcript.
 */
export function estimateText(text: string): number {
  let total = 0;
  // Read from a typed array: charCodeAt has to find out at every character what kind of string it is in.
  for (let from = 0; from < text.length; from += blockLength) {
    const block = from === 0 && text.length <= blockLength ? text : text.slice(from, from + blockLength);
    total += costOf(scratch.write(block, 0, 'utf16le') / 2);
  }
  return Math.max(1, Math.floor(total / unit));
}

/** Hundredths of a token of the first `length` units of the scratch block. */
function costOf(length: number): number {
  let total = 0;
  let at = 0;
  while (at < length) {
    const end = Math.min(length, at + pieceLength);
    /** ASCII and Latin characters of the piece; what they cost by their structure; what all others cost. */
    let narrow = 0;
    let dense = 0;
    let wide = 0;
    while (at < end) {
      const start = at;
      const code = units[at] as number;
      const kind = kinds[code] as Kind;
      if (kind <= Kind.Digit) {
        // A run of letters and digits: a word, a number, or something random such as hex and base64.
        const limit = Math.min(length, start + 4 * pieceLength);
        let seen = 0;
        let digits = 0;
        let changes = 0;
        let before = kind;
        let current: Kind = kind;
        do {
          seen |= 1 << current;
          if (current !== before) {
            // "Word" is one run, "camelCase" two: upper to lower is no change.
            if (current !== Kind.Lower || before !== Kind.Upper) changes++;
            before = current;
          }
          if (current === Kind.Digit) digits++;
          else if ((units[at] as number) > 127) wide += accented;
          at++;
          current = at < limit ? (kinds[units[at] as number] as Kind) : Kind.Mark;
        } while (current <= Kind.Digit);
        dense += wordCost(at - start, digits, changes, (seen & mixedCase) === mixedCase);
        narrow += at - start;
      } else if (kind === Kind.Space) {
        do at++;
        while (at < length && kinds[units[at] as number] === Kind.Space);
        // One blank is part of the word behind it, but never of a number.
        if (at < length && kinds[units[at] as number] === Kind.Digit) dense += unit;
        else if (at - start > 1) dense += 90;
        narrow += at - start;
      } else if (kind === Kind.Mark) {
        let same = true;
        for (at++; at < length && kinds[units[at] as number] === Kind.Mark; at++) if (units[at] !== code) same = false;
        const run = at - start;
        if (run > 1) dense += same ? unit + run * 3 : unit + (run - 2) * 52;
        else dense += at < length && (kinds[units[at] as number] as Kind) < Kind.Digit ? 55 : unit;
        narrow += run;
      } else if (kind === Kind.Newline) {
        do at++;
        while (at < length && kinds[units[at] as number] === Kind.Newline);
        dense += 60;
        narrow += at - start;
      } else if (code >= 0xd800 && code <= 0xdbff && at + 1 < length) {
        wide += astralWeight(0x10000 + ((code & 0x3ff) << 10) + ((units[at + 1] as number) & 0x3ff));
        at += 2;
      } else {
        wide += wideWeight(code);
        at++;
      }
    }
    const flat = narrow * plain;
    total += wide + (dense > flat * plainLimit ? dense : flat);
  }
  return total;
}

/** Extra for a Latin letter with an accent. */
const accented = 14;
const mixedCase = (1 << Kind.Lower) | (1 << Kind.Upper);

function wordCost(length: number, digits: number, changes: number, isMixedCase: boolean): number {
  if (digits === length) return Math.ceil(length / 3) * unit;
  if (length >= 8 && length < (changes + 1) * 4) return length * (isMixedCase ? 68 : 56);
  if (length > 24 && changes * 12 < length) return length * 45;
  const words = changes + 1;
  return words * unit + Math.max(0, length - digits - words * 8) * 22;
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
