import type { GenerationJson, TaskJson, TierJson } from '../client/shapes';

/** What a run of the sample task showed. This is the whole shape of the report file. */
export interface Report {
  ok: boolean;
  /** From the creation of the task to its end. */
  seconds: number;
  /** Services that answered at the end. */
  services: string[];
  task: { id: string; state: string; toolCalls: number; criteria: { open: number; closed: number } };
  thresholdHits: number;
  compactions: Array<{
    generation: number;
    model: string;
    window: number;
    threshold: number;
    before: number;
    after: number;
    tiers: Array<Pick<TierJson, 'tier' | 'outcome' | 'before' | 'after' | 'reason'>>;
  }>;
  fallbacks: Array<{ from: string; to: string; reason: string; window: number; threshold: number }>;
  restores: Array<{ id: string; bytes: number; sha256Matches: boolean }>;
  reinjected: Array<{ kind: string; count: number }>;
}

/** What is known beside the report: whether somebody really died, and whether that left a trace. */
export interface Disturbance {
  /** The service that was killed and came back; undefined when none was. */
  killed: string | undefined;
  /** Tool calls whose outcome nobody knows, that failed with their process, or that were recorded twice. */
  traces: number;
}

/** The committed passes, oldest first, as the report shows them. */
export function compactionsOf(generations: readonly GenerationJson[]): Report['compactions'] {
  return committed(generations).map((one) => ({
    generation: one.generation,
    model: `${one.provider}/${one.model}`,
    window: one.window,
    threshold: one.threshold,
    before: one.before,
    after: one.after,
    tiers: one.tiers.map(({ tier, outcome, before, after, reason }) => ({ tier, outcome, before, after, reason })),
  }));
}

/** What the committed passes put back into the view, by kind, summed over all of them. */
export function reinjectedOf(generations: readonly GenerationJson[]): Report['reinjected'] {
  const counts = new Map<string, number>();
  for (const { reinjected } of committed(generations)) {
    for (const { kind, count } of reinjected) counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

export function taskOf(task: Pick<TaskJson, 'id' | 'state' | 'toolCalls' | 'criteria'>): Report['task'] {
  const closed = task.criteria.filter((criterion) => criterion.done).length;
  const { id, state, toolCalls } = task;
  return { id, state, toolCalls, criteria: { open: task.criteria.length - closed, closed } };
}

/** Seconds with one digit. */
export function secondsBetween(fromMs: number, toMs: number): number {
  return Math.round((toMs - fromMs) / 100) / 10;
}

function committed(generations: readonly GenerationJson[]): GenerationJson[] {
  return generations
    .filter((one) => one.generation > 0 && one.undoes === 0 && ['reduced', 'degraded', 'insufficient'].includes(one.outcome))
    .sort((a, b) => a.generation - b.generation);
}

const least = { toolCalls: 60, thresholdHits: 2, compactions: 2 } as const;
const injectedKinds = ['goal', 'plan', 'file'] as const;

/** What should have happened and did not; empty = everything did. */
export function missingFrom(report: Omit<Report, 'ok'>, disturbance: Disturbance, services: readonly string[]): string[] {
  const kinds = new Set(report.reinjected.filter((one) => one.count > 0).map((one) => one.kind));
  const checks: ReadonlyArray<readonly [boolean, string]> = [
    [report.task.state === 'completed', `the task is ${report.task.state}, not completed`],
    [report.task.criteria.open === 0 && report.task.criteria.closed > 0, `${report.task.criteria.open} criteria are open`],
    [report.task.toolCalls >= least.toolCalls, `${report.task.toolCalls} tool calls, at least ${least.toolCalls} expected`],
    [
      report.thresholdHits >= least.thresholdHits,
      `${report.thresholdHits} threshold hits, at least ${least.thresholdHits} expected`,
    ],
    [
      report.compactions.length >= least.compactions,
      `${report.compactions.length} compactions, at least ${least.compactions} expected`,
    ],
    [report.compactions.every((one) => one.after < one.before), 'a compaction did not make the view smaller'],
    [report.fallbacks.some((one) => one.reason === 'rate_limit'), 'no rate limit moved the task to the fallback model'],
    [report.restores.some((one) => one.sha256Matches), 'no hidden tool result was restored with its exact bytes'],
    [report.restores.every((one) => one.sha256Matches), 'a restored tool result differs from what was stored'],
    ...injectedKinds.map((kind) => [kinds.has(kind), `no ${kind} was put back after a compaction`] as const),
    [disturbance.killed !== undefined, 'no service was killed and restarted'],
    [disturbance.traces === 0, `${disturbance.traces} tool calls show a trace of the killed service`],
    ...services.map((name) => [report.services.includes(name), `${name} did not answer at the end`] as const),
  ];
  return checks.filter(([holds]) => !holds).map(([, text]) => text);
}
