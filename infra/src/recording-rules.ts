import { scaled } from './durations';
import { increase, metric, rate } from './names';

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** The windows of the burn-rate alerts, in seconds, with the name each has in a rule. */
export const burnWindows = { '5m': 300, '30m': 1800, '1h': 3600, '2h': 7200, '6h': 21_600, '1d': 86_400, '3d': 259_200 } as const;
export type BurnWindow = keyof typeof burnWindows;

/** Passes that say nothing about the quality of compaction. */
const judged = { outcome: '!~"conflict|cancelled|no_longer_due"' };

/** (failed + insufficient + degraded by a failed summary) / judged passes, over one window. */
function failureRatio(window: string): string {
  // `or` instead of `+`: a sum with a missing side is empty, a union is not.
  const failed = metric('compaction_passes', { outcome: '=~"failed|insufficient"' });
  const degraded = metric('compaction_passes', { outcome: 'degraded', summary: 'failed' });
  const bad = `sum (rate(${failed}[${window}]) or rate(${degraded}[${window}]))`;
  return `${bad} / ${rate('compaction_passes', window, { where: judged })}`;
}

/** @param divisor see durations.ts */
export function recordingRules(divisor = 1): RecordingRule[] {
  const windows = Object.entries(burnWindows);
  return [
    ...windows.map(([name, seconds]) => ({
      record: `nightshift:compaction_failures:ratio_rate${name}`,
      expr: failureRatio(scaled(seconds, divisor)),
    })),
    ...windows.map(([name, seconds]) => ({
      record: `nightshift:compaction_passes:increase${name}`,
      expr: increase('compaction_passes', scaled(seconds, divisor), { where: judged }),
    })),
    {
      record: 'nightshift:provider_attempts:error_ratio_rate5m',
      expr: `${rate('provider_attempts', scaled(300, divisor), { by: ['provider'], where: { outcome: '!~"ok|aborted"' } })} / ${rate('provider_attempts', scaled(300, divisor), { by: ['provider'], where: { outcome: '!="aborted"' } })}`,
    },
    {
      record: 'nightshift:task_step_duration_seconds:p99_5m',
      expr: `histogram_quantile(0.99, ${rate('task_step_duration_seconds', scaled(300, divisor), { by: ['le'] }).replace('nightshift_task_step_duration_seconds', 'nightshift_task_step_duration_seconds_bucket')})`,
    },
  ];
}
