import { increase, metric, quantile, rate } from '../names';
import { dashboard } from './dashboard';
import { graph, row, stat } from './panel';

const w = '$__rate_interval';
const range = '$__range';

export const compaction = () =>
  dashboard(
    'nightshift-compaction',
    'Nightshift: compaction',
    'Threshold hits, tiers, failures, what is saved, and whether there are enough workers.',
    [
      stat({ title: 'Threshold hits', queries: { hits: increase('compaction_threshold_hits', range) } }),
      stat({ title: 'Passes', queries: { passes: increase('compaction_passes', range) } }),
      stat({
        title: 'Failure ratio, 1 h',
        unit: 'percentunit',
        limit: 0.05,
        queries: { ratio: 'nightshift:compaction_failures:ratio_rate1h' },
      }),
      stat({ title: 'Tokens saved', queries: { saved: increase('compaction_tokens_saved', range) } }),
      stat({ title: 'Open breakers', limit: 1, queries: { open: `max (${metric('compaction_breaker_open_tasks')})` } }),
      stat({
        title: 'Workers waiting for work',
        queries: { workers: `max (${metric('queue_waiting_pulls', { route: 'compactionRun' })})` },
      }),
      row('Passes'),
      graph({
        title: 'Threshold hits by reason',
        unit: 'reqps',
        queries: { '{{reason}}': rate('compaction_threshold_hits', w, { by: ['reason'] }) },
      }),
      graph({
        title: 'Passes by outcome',
        unit: 'reqps',
        stack: true,
        queries: { '{{outcome}}': rate('compaction_passes', w, { by: ['outcome'] }) },
      }),
      graph({
        title: 'Tier runs',
        unit: 'reqps',
        queries: { '{{tier}} {{outcome}}': rate('compaction_tier_runs', w, { by: ['tier', 'outcome'] }) },
      }),
      graph({
        title: 'Failure ratio by window',
        unit: 'percentunit',
        limit: 0.05,
        queries: {
          '5m': 'nightshift:compaction_failures:ratio_rate5m',
          '1h': 'nightshift:compaction_failures:ratio_rate1h',
          '6h': 'nightshift:compaction_failures:ratio_rate6h',
        },
      }),
      graph({
        title: 'Tokens before and after, median',
        queries: { before: quantile(0.5, 'compaction_tokens_before', w), after: quantile(0.5, 'compaction_tokens_after', w) },
      }),
      graph({
        title: 'Duration',
        unit: 's',
        limit: 60,
        queries: { p50: quantile(0.5, 'compaction_duration_seconds', w), p95: quantile(0.95, 'compaction_duration_seconds', w) },
      }),
      row('Safety'),
      graph({
        title: 'Breaker trips, rapid refills, irreducible',
        queries: {
          'breaker trips': rate('compaction_breaker_trips', w),
          'rapid refills': rate('compaction_rapid_refills', w),
          irreducible: rate('compaction_irreducible', w),
          'prefix breaks': rate('compaction_prefix_breaks', w),
        },
      }),
      graph({
        title: 'Restored results',
        unit: 'reqps',
        queries: { '{{outcome}}': rate('toolresult_restored', w, { by: ['outcome'] }) },
      }),
      row('Queue and workers'),
      graph({
        title: 'Compactions pending and in flight',
        queries: {
          pending: `max (${metric('queue_pending', { route: 'compactionRun' })})`,
          'in flight': `max (${metric('queue_in_flight', { route: 'compactionRun' })})`,
          'running in workers': `sum (${metric('compaction_running')})`,
        },
      }),
      graph({
        title: 'Oldest compaction',
        unit: 's',
        limit: 300,
        queries: { age: `max (${metric('queue_oldest_seconds', { route: 'compactionRun' })})` },
      }),
      graph({ title: 'Worker processes', queries: { workers: 'count (up{job="nightshift-compactor"} == 1)' } }),
      graph({ title: 'Results of closed passes', queries: { dropped: rate('compaction_results_dropped', w) } }),
    ],
  );
