import { candidateSources, limitKinds } from './candidates';
import type { Candidate, CandidateSource, LearnedLimit, LimitKind } from './candidates';
import { disproof } from './learned-limits';

/** Assumed of a model nobody knows. */
export const unknownWindow = 32_000;

export interface ResolveInput {
  candidates: readonly Candidate[];
  learned: readonly LearnedLimit[];
  nowMs: number;
}

export type Fate = 'won' | 'lost' | 'capped' | 'ignored';

/** One candidate and what became of it, for display. */
export interface JudgedSource {
  source: CandidateSource | 'learned';
  window?: number;
  inputMax?: number;
  outputMax?: number;
  trainedMax?: number;
  atMs: number;
  fate: Fate;
  reason: string;
}

export interface Resolution {
  window: number;
  inputMax?: number;
  outputMax?: number;
  trainedMax?: number;
  source: CandidateSource | 'learned' | 'unknown';
  atMs: number;
  unknown: boolean;
  stale: boolean;
  sources: JudgedSource[];
}

const byStrength = (a: Candidate, b: Candidate): number =>
  candidateSources.indexOf(a.source) - candidateSources.indexOf(b.source);

/**
 * Which window holds: the strongest source that states one, capped by the newest learned limit that is not disproved.
 * Output and trained maximum come from the strongest source that states them, input maximum likewise, but never from
 * below an override of the window: whoever overrides knows better than a list. One function for engine, API and display.
 */
export function resolve(input: ResolveInput): Resolution {
  const ranked = [...input.candidates].sort(byStrength);
  const winner = ranked.find((each) => each.window !== undefined);
  const limits = input.learned.map((limit) => ({ limit, doubt: disproof(limit, input.candidates) }));
  const cap = (kind: LimitKind): LearnedLimit | undefined =>
    limits.filter((each) => each.limit.kind === kind && !each.doubt).sort((a, b) => b.limit.atMs - a.limit.atMs)[0]?.limit;
  const caps = { window: cap('window'), inputMax: cap('inputMax'), outputMax: cap('outputMax') };

  const stated = winner?.window ?? (caps.window || caps.inputMax ? Infinity : unknownWindow);
  const onlyInput = winner === undefined ? caps.inputMax?.tokens : undefined;
  const window = Math.min(stated, caps.window?.tokens ?? Infinity, onlyInput ?? Infinity);
  const learnedDecides = window < (winner?.window ?? Infinity) && (caps.window ?? (onlyInput ? caps.inputMax : undefined));

  const overridden = winner?.source === 'team' || winner?.source === 'operator';
  const askedForInput = overridden ? ranked.filter((each) => byStrength(each, winner) <= 0) : ranked;
  const resolution: Resolution = {
    window,
    ...least('inputMax', [first(askedForInput, 'inputMax'), caps.inputMax?.tokens], window),
    ...least('outputMax', [first(ranked, 'outputMax'), caps.outputMax?.tokens], window),
    source: learnedDecides ? 'learned' : (winner?.source ?? 'unknown'),
    atMs: learnedDecides ? learnedDecides.atMs : (winner?.atMs ?? 0),
    unknown: winner === undefined && !learnedDecides,
    stale: winner?.staleAfterMs !== undefined && input.nowMs - winner.atMs > winner.staleAfterMs,
    sources: [...ranked.map((each) => judge(each, winner, caps)), ...limits.map((each) => judgeLimit(each, caps))],
  };
  const trainedMax = first(ranked, 'trainedMax');
  return trainedMax === undefined ? resolution : { ...resolution, trainedMax };
}

function first(ranked: readonly Candidate[], field: LimitKind | 'trainedMax'): number | undefined {
  return ranked.find((each) => each[field] !== undefined)?.[field];
}

/** The least of what is stated, never above the window; absent when nothing is stated. */
function least<K extends LimitKind>(field: K, stated: (number | undefined)[], window: number): { [F in K]?: number } {
  const figures = stated.filter((each) => each !== undefined);
  return figures.length === 0 ? {} : ({ [field]: Math.min(...figures, window) } as { [F in K]: number });
}

function judge(
  candidate: Candidate,
  winner: Candidate | undefined,
  caps: Record<LimitKind, LearnedLimit | undefined>,
): JudgedSource {
  const { staleAfterMs: _staleAfterMs, note = '', ...figures } = candidate;
  if (candidate.window === undefined) return { ...figures, fate: 'ignored', reason: note || 'states no window' };
  const clashes = limitKinds.flatMap((kind) => {
    const said = candidate[kind];
    const limit = caps[kind];
    return said !== undefined && limit !== undefined && limit.tokens < said
      ? [`${kind} ${said} capped by ${limit.tokens} learned`]
      : [];
  });
  if (candidate === winner && clashes.length > 0)
    return { ...figures, fate: 'capped', reason: [note, ...clashes].filter(Boolean).join('; ') };
  if (candidate === winner) return { ...figures, fate: 'won', reason: note };
  return { ...figures, fate: 'lost', reason: note || `${winner?.source ?? 'nothing'} is stronger` };
}

function judgeLimit(
  { limit, doubt }: { limit: LearnedLimit; doubt: string | undefined },
  caps: Record<LimitKind, LearnedLimit | undefined>,
): JudgedSource {
  const figure = { source: 'learned' as const, [limit.kind]: limit.tokens, atMs: limit.atMs };
  if (doubt) return { ...figure, fate: 'ignored', reason: doubt };
  if (caps[limit.kind] !== limit) return { ...figure, fate: 'lost', reason: 'the endpoint stated another limit since' };
  const reason = limit.exactness === 'exact' ? 'stated by the endpoint in an error' : 'from an answer whose input was cut';
  return { ...figure, fate: 'won', reason };
}
