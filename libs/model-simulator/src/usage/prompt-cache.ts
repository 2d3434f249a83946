import { createHash } from 'node:crypto';
import type { Segment } from '../conversation';

/** No vendor caches a shorter prefix. */
const SMALLEST_CACHED = 1024;
/** OpenAI counts cached tokens in steps. */
const STEP = 128;
const ENTRIES_MAX = 200_000;

export type CacheMode = 'markers' | 'prefix' | 'off';

/** The vendor's prompt cache: which prefixes of earlier requests of the same key are known. */
export class PromptCache {
  private readonly known = new Set<string>();

  /** Tokens read from and written to the cache by this request; remembers its prefixes. */
  visit(
    key: string,
    segments: readonly Segment[],
    cumulative: readonly number[],
    mode: CacheMode,
  ): { readonly read: number; readonly write: number } {
    if (mode === 'off') return { read: 0, write: 0 };
    if (this.known.size > ENTRIES_MAX) this.known.clear();
    let chain = key;
    let read = 0;
    let marked = 0;
    const prefixes = segments.map((segment, index) => {
      chain = createHash('sha1').update(chain).update(segment.text).update(String(segment.images)).digest('base64');
      const tokens = cumulative[index] ?? 0;
      if (segment.cacheMark) marked = tokens;
      if (this.known.has(chain)) read = tokens;
      return { chain, tokens };
    });
    if (mode === 'markers') {
      read = Math.min(read, marked);
      for (const { chain: prefix, tokens } of prefixes) if (tokens <= marked) this.known.add(prefix);
      const write = marked - read;
      return {
        read: read < SMALLEST_CACHED ? 0 : read,
        write: marked < SMALLEST_CACHED ? 0 : read < SMALLEST_CACHED ? marked : write,
      };
    }
    for (const { chain: prefix } of prefixes) this.known.add(prefix);
    return { read: read < SMALLEST_CACHED ? 0 : Math.floor(read / STEP) * STEP, write: 0 };
  }
}
