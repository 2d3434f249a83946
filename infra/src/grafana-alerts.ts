import { stringify } from 'yaml';
import { alerts } from './alerts';
import { recordingRules } from './recording-rules';
import { runbookBase } from './prometheus';

export const dataSourceUid = 'nightshift-prometheus';

/**
 * Alert rules in the form that Grafana provisions, from the same source as the Prometheus rules. Recording rules are written
 * out, so that Grafana can evaluate against any Prometheus, also one that does not load our rules file.
 */
export function grafanaAlerts(): string {
  const recorded = recordingRules().map(({ record, expr }) => [record, `(${expr})`] as const);
  const inline = (expr: string) =>
    recorded.reduce((text, [name, value]) => text.replaceAll(new RegExp(`${name}\\b`, 'g'), value), expr);
  return stringify(
    {
      apiVersion: 1,
      groups: [
        {
          orgId: 1,
          name: 'nightshift',
          folder: 'Nightshift',
          interval: '1m',
          rules: alerts().map((alert) => ({
            uid: `ns-${alert.name.replace(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()}`.slice(0, 40),
            title: alert.name,
            condition: 'firing',
            data: [
              {
                refId: 'value',
                relativeTimeRange: { from: 600, to: 0 },
                datasourceUid: dataSourceUid,
                model: { refId: 'value', expr: inline(alert.expr), instant: true, intervalMs: 15_000, maxDataPoints: 100 },
              },
              {
                refId: 'firing',
                relativeTimeRange: { from: 600, to: 0 },
                datasourceUid: '__expr__',
                // An alert expression yields series only while it holds: one row is enough.
                model: { refId: 'firing', type: 'math', expression: 'is_number($value) || is_inf($value)' },
              },
            ],
            noDataState: 'OK',
            execErrState: 'Error',
            for: `${alert.holdSeconds}s`,
            labels: { severity: alert.severity },
            annotations: {
              summary: grafanaTemplate(alert.summary),
              description: grafanaTemplate(alert.description),
              runbook_url: `${runbookBase}#${alert.runbook}`,
            },
          })),
        },
      ],
    },
    { lineWidth: 0 },
  );
}

/** Prometheus writes `$value`; Grafana keeps the number of a query under `$values.<refId>.Value`. */
function grafanaTemplate(text: string): string {
  return text.replaceAll('$value', '$values.value.Value');
}
