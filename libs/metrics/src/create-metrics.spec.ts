import { createMetrics, metricTable, wireName } from './index';
import type { MetricName } from './index';

describe('metrics', () => {
  it('shows every metric with bounded labels at zero before anything happened', async () => {
    const text = await createMetrics('orchestrator').text();
    expect(text).toContain('nightshift_compaction_threshold_hits_total{reason="threshold"} 0');
    expect(text).toContain('nightshift_compaction_tier_runs_total{tier="summary",outcome="failed"} 0');
    expect(text).toContain('nightshift_compaction_breaker_trips_total 0');
    expect(text).toContain('nightshift_compaction_duration_seconds_bucket{le="60"} 0');
    for (const name of Object.keys(metricTable) as MetricName[]) expect(text).toContain(`# TYPE ${wireName(name)} `);
  });

  it('counts by label, typed by the table', async () => {
    const metrics = createMetrics('orchestrator');
    metrics.counter('compaction_threshold_hits').inc({ reason: 'overflow' });
    metrics.counter('compaction_breaker_trips').inc({}, 2);
    metrics.counter('compaction_breaker_trips').inc();
    metrics.gauge('task_states').set({ state: 'running' }, 7);
    metrics.histogram('compaction_duration_seconds').observe({}, 3);
    // @ts-expect-error a value outside of the table
    metrics.counter('compaction_threshold_hits').inc({ reason: 'whatever' });
    const text = await metrics.text();
    expect(text).toContain('nightshift_compaction_threshold_hits_total{reason="overflow"} 1');
    expect(text).toContain('nightshift_compaction_breaker_trips_total 3');
    expect(text).toContain('nightshift_task_states{state="running"} 7');
    expect(text).toContain('nightshift_compaction_duration_seconds_bucket{le="2.5"} 0');
    expect(text).toContain('nightshift_compaction_duration_seconds_bucket{le="5"} 1');
  });

  it('counts values of an open label beyond 200 as other', async () => {
    const metrics = createMetrics('provider-gateway');
    for (let index = 0; index < 250; index++) metrics.counter('provider_overflows').inc({ provider: `p${index}` });
    const text = await metrics.text();
    expect(text).toContain('nightshift_provider_overflows_total{provider="other"} 50');
    expect(text).not.toContain('provider="p200"');
  });

  it('follows the naming rules: no unit twice, base units, no _total outside of counters', () => {
    for (const [name, row] of Object.entries(metricTable)) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*[a-z0-9]$/);
      expect(name).not.toMatch(/_(total|ms|milliseconds|count|sum|bucket)$/);
      expect(row.help).toMatch(/^[A-Z0-9].*\.$/);
    }
  });
});
