/** Hundredths of a token for a Han character. */
export function hanWeight(code: number): number {
  return code < 0x4e00 ? 210 : 76;
}

/** Hundredths of a token for a Hangul syllable. */
export function hangulWeight(_code: number): number {
  return 65;
}
