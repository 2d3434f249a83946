import { Bpe } from './bpe';

/** Texts below this are counted faster than they are looked up. */
const CACHED_FROM_CHARS = 64;
const CACHE_CHARS = 32_000_000;

let bpe: Bpe | undefined;
const counts = new Map<string, number>();
let cachedChars = 0;

/** o200k_base tokens of a text. Long texts are remembered, since a growing history is sent again with every request. */
export function countTokens(text: string): number {
  bpe ??= new Bpe();
  if (text.length < CACHED_FROM_CHARS) return text === '' ? 0 : bpe.count(text);
  const known = counts.get(text);
  if (known !== undefined) return known;
  const count = bpe.count(text);
  if (cachedChars > CACHE_CHARS) {
    counts.clear();
    cachedChars = 0;
  }
  counts.set(text, count);
  cachedChars += text.length;
  return count;
}
