import type { Candidate, LearnedLimit } from './candidates';

/** A stated limit this many times below the catalogue is believed at its second sighting (vendors gave such figures for a while, then took them back). */
const doubtfulFactor = 4;

/** Why a learned limit does not apply; undefined = it does. */
export function disproof(limit: LearnedLimit, candidates: readonly Candidate[]): string | undefined {
  if ((limit.acceptedTokens ?? 0) > limit.tokens) return `a request of ${limit.acceptedTokens} tokens was accepted since`;
  const catalogue = candidates.find((each) => each.source === 'catalogue')?.[limit.kind];
  if (
    limit.exactness === 'exact' &&
    limit.sightings < 2 &&
    catalogue !== undefined &&
    limit.tokens * doubtfulFactor < catalogue
  ) {
    return `more than ${doubtfulFactor} times below the catalogue's ${catalogue}: waits for a second sighting`;
  }
  // A server that was started anew with another window says another figure than when the limit was learned. A router that
  // declares too much goes on declaring it, which proves nothing. A cut answer never told the limit itself: any newer probe does.
  const probe = candidates.find((each) => {
    const said = each[limit.kind];
    if (each.source !== 'served' || said === undefined || each.atMs <= limit.atMs) return false;
    return limit.exactness === 'cut' ? said !== limit.tokens : said > limit.tokens && said !== limit.against;
  });
  return probe && `the server now serves ${probe[limit.kind]}`;
}
