import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { sumOf } from './metrics-keeper';

export interface MetricsFacts {
  /** Service → how many processes of it were seen. */
  processes: Record<string, number>;
  thresholdHits: number;
  committedPasses: number;
  /** `tier outcome` → runs. */
  tierRuns: (tier: string, outcome: string) => number;
  fallbacks: number;
  toolCalls: number;
  restored: number;
}

/** The figures that the services served at /metrics, summed over every process that was seen. */
export function metricsFacts(folder: string): MetricsFacts {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.prom')) : [];
  const texts = files.map((name) => readFileSync(path.join(folder, name), 'utf8'));
  const total = (name: string, labels: Record<string, string> = {}): number =>
    texts.reduce((sum, text) => sum + sumOf(text, `nightshift_${name}`, labels), 0);
  const processes: Record<string, number> = {};
  for (const name of files) {
    const service = name.split('.')[0] ?? name;
    processes[service] = (processes[service] ?? 0) + 1;
  }
  return {
    processes,
    thresholdHits: total('compaction_threshold_hits_total'),
    committedPasses: ['reduced', 'degraded', 'insufficient'].reduce(
      (sum, outcome) => sum + total('compaction_passes_total', { outcome }),
      0,
    ),
    tierRuns: (tier, outcome) => total('compaction_tier_runs_total', { tier, outcome }),
    fallbacks: total('provider_fallbacks_total'),
    toolCalls: total('task_tool_calls_total'),
    restored: total('toolresult_restored_total', { outcome: 'ok' }),
  };
}
