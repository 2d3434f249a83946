import { toMs } from '@nightshift/contracts';
import type { registry } from '@nightshift/contracts';
import type { LimitKind } from '../resolve/candidates';

/** What one observation teaches. */
export type Lesson =
  | { teaches: 'limit'; kind: LimitKind; tokens: number; exactness: 'exact' | 'cut'; atMs: number; text: string }
  | { teaches: 'accepted'; tokens: number }
  | { teaches: 'nothing'; why: string };

const kinds: Readonly<Record<string, LimitKind>> = { window: 'window', input_max: 'inputMax', output_max: 'outputMax' };
/** Nobody serves less, and nobody more; a figure outside was read from the wrong place of a text. */
const least = 256;
const most = 100_000_000;
const longestText = 500;

/**
 * Lower bounds ("at least 8193") teach nothing. `request_end`: the answer's reported input shows where it was cut, which
 * holds until the server itself says more.
 */
export function lessonOf(observed: registry.Observed): Lesson {
  const { kind, tokens, exactness } = observed;
  if (tokens < least || tokens > most) return { teaches: 'nothing', why: `${tokens} tokens is no window` };
  if (kind === 'accepted') return { teaches: 'accepted', tokens };
  const limit = kinds[kind];
  if (!limit) return { teaches: 'nothing', why: `unknown kind ${kind}` };
  if (exactness !== 'exact' && exactness !== 'request_end')
    return { teaches: 'nothing', why: `${exactness || 'no exactness'} is no limit` };
  const how = exactness === 'exact' ? 'exact' : 'cut';
  return {
    teaches: 'limit',
    kind: limit,
    tokens,
    exactness: how,
    atMs: toMs(observed.atMs),
    text: observed.text.slice(0, longestText),
  };
}
