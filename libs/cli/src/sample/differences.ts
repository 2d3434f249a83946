import { isDeepStrictEqual } from 'node:util';
import { serviceNames } from '../local/layout';
import type { DatabaseFacts } from './database-facts';
import type { MetricsFacts } from './metrics-facts';
import { missingFrom, type Report } from './report';
import type { SimulatorFacts } from './simulator-facts';

export interface Evidence {
  database: DatabaseFacts;
  metrics: MetricsFacts;
  /** undefined for a run on a real model. */
  simulator: SimulatorFacts | undefined;
}

/** Every difference between a report and what Postgres, the figures of the services and the simulator's log say. */
export function differences(report: Report, evidence: Evidence): string[] {
  return [
    ...againstDatabase(report, evidence),
    ...againstMetrics(report, evidence),
    ...(evidence.simulator ? againstSimulator(report, evidence.simulator) : []),
  ];
}

type Compared = 'seconds' | 'task' | 'thresholdHits' | 'compactions' | 'fallbacks' | 'restores' | 'reinjected';
const compared: readonly Compared[] = ['seconds', 'task', 'thresholdHits', 'compactions', 'fallbacks', 'restores', 'reinjected'];

function againstDatabase(report: Report, { database, metrics }: Evidence): string[] {
  const fields = compared.flatMap((field) => differ(field, report[field], 'Postgres', database[field]));
  const { traces, rateLimited: _, ...figures } = database;
  const killed = Object.keys(metrics.processes).find((name) => (metrics.processes[name] ?? 0) > 1);
  const services = serviceNames.filter((name) => (metrics.processes[name] ?? 0) > 0);
  const ok = missingFrom({ ...figures, services }, { killed, traces }, serviceNames).length === 0;
  return [
    ...fields,
    ...differ('services', [...report.services].sort(), '/metrics', [...services].sort()),
    ...differ('ok', report.ok, 'the recomputation', ok),
    ...unknownFields(report),
  ];
}

function againstMetrics(report: Report, { metrics }: Evidence): string[] {
  const runs = new Map<string, number>();
  for (const { tier, outcome } of report.compactions.flatMap((one) => one.tiers)) {
    runs.set(`${tier} ${outcome}`, (runs.get(`${tier} ${outcome}`) ?? 0) + 1);
  }
  return [
    ...differ('thresholdHits', report.thresholdHits, '/metrics', metrics.thresholdHits),
    ...differ('number of compactions', report.compactions.length, '/metrics', metrics.committedPasses),
    ...differ('number of fallbacks', report.fallbacks.length, '/metrics', metrics.fallbacks),
    ...differ('task.toolCalls', report.task.toolCalls, '/metrics', metrics.toolCalls),
    ...atLeast('restored results', metrics.restored, '/metrics', report.restores.length),
    ...[...runs].flatMap(([name, count]) => {
      const [tier = '', outcome = ''] = name.split(' ');
      return differ(`runs of tier ${name}`, count, '/metrics', metrics.tierRuns(tier, outcome));
    }),
  ];
}

function againstSimulator(report: Report, simulator: SimulatorFacts): string[] {
  const byRateLimit = report.fallbacks.filter((one) => one.reason === 'rate_limit').length;
  const summaries = report.compactions
    .flatMap((one) => one.tiers)
    .filter((one) => one.tier === 'summary' && one.outcome === 'applied');
  return [
    ...differ('task.toolCalls', report.task.toolCalls, "the simulator's log", simulator.toolCalls),
    ...differ('fallbacks by rate limit', byRateLimit, "the simulator's log", simulator.movedByRateLimit),
    ...atLeast('summaries', simulator.summaries, "the simulator's log", summaries.length),
    ...report.compactions.flatMap(({ model, window, generation }) => {
      const name = model.slice(model.indexOf('/') + 1);
      return differ(`window of generation ${generation}`, window, "the simulator's log", simulator.windows[name]);
    }),
  ];
}

const known = ['ok', 'seconds', 'services', 'task', 'thresholdHits', 'compactions', 'fallbacks', 'restores', 'reinjected'];

function unknownFields(report: Report): string[] {
  return Object.keys(report)
    .filter((name) => !known.includes(name))
    .map((name) => `${name}: not a field of a report`);
}

function differ(what: string, said: unknown, source: string, found: unknown): string[] {
  if (isDeepStrictEqual(said, found)) return [];
  return [`${what}: the report says ${JSON.stringify(said)}, ${source} says ${JSON.stringify(found)}`];
}

function atLeast(what: string, found: number, source: string, least: number): string[] {
  return found >= least ? [] : [`${what}: the report says ${least}, ${source} says ${found}`];
}
