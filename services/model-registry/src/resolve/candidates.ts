/** Where a figure may come from, strongest first. */
export const candidateSources = ['team', 'operator', 'served', 'list', 'catalogue', 'family'] as const;
export type CandidateSource = (typeof candidateSources)[number];

/** What one source says about one model at one endpoint. Tokens; absent = the source does not say. */
export interface Candidate {
  source: CandidateSource;
  window?: number;
  inputMax?: number;
  outputMax?: number;
  trainedMax?: number;
  /** When it was observed, milliseconds. */
  atMs: number;
  /** Older than this counts as stale; absent = never. */
  staleAfterMs?: number;
  /** How it was read, shown to people. */
  note?: string;
}

export const limitKinds = ['window', 'inputMax', 'outputMax'] as const;
export type LimitKind = (typeof limitKinds)[number];

/** A limit that the endpoint itself stated, in an error text or by cutting an answer short. */
export interface LearnedLimit {
  kind: LimitKind;
  tokens: number;
  /** `exact`: read from the text. `cut`: derived from an answer whose input was cut silently. */
  exactness: 'exact' | 'cut';
  /** Different messages that said so. */
  sightings: number;
  atMs: number;
  /** What the server or list said when this was learned: the same figure said again later disproves nothing. */
  against?: number;
  /** Largest input + output accepted since, tokens. */
  acceptedTokens?: number;
}
