import type { FaultCondition, FaultSpec } from '../config/fault-spec';

export interface FaultSubject {
  /** Number of the request for this model, from 1. */
  readonly request: number;
  readonly input: number;
  readonly stream: boolean;
  readonly summary: boolean;
  /** Summaries asked of this model before this request. */
  readonly summariesBefore: number;
  /** Called only where a condition looks into the text. */
  readonly raw: () => string;
  readonly msSinceStart: number;
}

export function holds(condition: FaultCondition, subject: FaultSubject, random: () => number): boolean {
  const { request, flapping } = condition;
  const numbers = request === undefined ? undefined : Array.isArray(request) ? request : [request];
  if (numbers !== undefined && !numbers.includes(subject.request)) return false;
  if (condition.requestsFrom !== undefined && subject.request < condition.requestsFrom) return false;
  if (condition.requestsThrough !== undefined && subject.request > condition.requestsThrough) return false;
  if (condition.inputAbove !== undefined && subject.input <= condition.inputAbove) return false;
  if (condition.inputBelow !== undefined && subject.input >= condition.inputBelow) return false;
  if (condition.stream !== undefined && subject.stream !== condition.stream) return false;
  if (condition.summary !== undefined && subject.summary !== condition.summary) return false;
  if (condition.afterSummaries !== undefined && subject.summariesBefore < condition.afterSummaries) return false;
  if (condition.contains !== undefined && !subject.raw().includes(condition.contains)) return false;
  if (flapping !== undefined && subject.msSinceStart % (flapping.downMs + flapping.upMs) >= flapping.downMs) return false;
  // Last, so that the seeded sequence advances only where everything else holds.
  return condition.probability === undefined || random() < condition.probability;
}

/** A fault with the number of times it may still apply. */
export interface ArmedFault {
  readonly spec: FaultSpec;
  left: number;
}

export function arm(specs: readonly FaultSpec[]): ArmedFault[] {
  return specs.map((spec) => ({ spec, left: spec.times === 'always' ? Infinity : spec.times }));
}

/** The first fault whose condition holds; uses one of its times. */
export function chooseFault(faults: readonly ArmedFault[], subject: FaultSubject, random: () => number): FaultSpec | undefined {
  const chosen = faults.find((fault) => fault.left > 0 && holds(fault.spec.when, subject, random));
  if (chosen !== undefined) chosen.left--;
  return chosen?.spec;
}

/** mulberry32: the same seed gives the same faults. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
