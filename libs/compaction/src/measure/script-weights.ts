import bits from './single-tokens.json';

/** First code point and one bit per character: set = a token of its own in o200k_base. A spec compares them with the ranks. */
const han = { first: 0x4e00, single: Buffer.from(bits.han, 'base64') };
const hangul = { first: 0xac00, single: Buffer.from(bits.hangul, 'base64') };
/** Emoji that are one token; the others are two or three. */
const singleEmoji = new Set([...'🏻🏼👇👉👌👍👏💕🔥😀😁😂😉😊😍😘😭🙂🙏🤣'].map((emoji) => emoji.codePointAt(0)));

function isSingle(script: typeof han, code: number): boolean {
  const at = code - script.first;
  return at >= 0 && ((script.single[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
}

/** Symbols (U+2000 to U+2BFF) that are one token; the others are two or three. */
const singleSymbols = new Set(
  [...'₂₪€₹⃣℃№™ΩⅠⅡⅤⅴⅼ←↑→↓⇒∀∆−∙√∞∨≈≤≥≫①②③④⑤▲△▶▷►▼▽◆◇○◎●★☆☎☴☺♀♂♡♥♦♪♫✅✓✔✨❤➡⠀⭐⭕'].map((symbol) =>
    symbol.codePointAt(0),
  ),
);

/** Hundredths of a token for a Han character: frequent ones often share a token with their neighbour. */
export function hanWeight(code: number): number {
  return isSingle(han, code) ? 73 : 205;
}

/** Hundredths of a token for a Hangul syllable. */
export function hangulWeight(code: number): number {
  return isSingle(hangul, code) ? 62 : 190;
}

/** Hundredths of a token for an emoji. */
export function emojiWeight(code: number): number {
  if (singleEmoji.has(code)) return 100;
  return code >= 0x1f600 && code <= 0x1f64f ? 175 : 190;
}

/** Hundredths of a token for a symbol; lines and blocks come in runs that share tokens. */
export function symbolWeight(code: number): number {
  if (code >= 0x2500 && code <= 0x259f) return 60;
  return singleSymbols.has(code) ? 95 : 195;
}
