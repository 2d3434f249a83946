import { stringify } from 'yaml';
import { serviceNames } from '@nightshift/contracts';
import { alerts } from './alerts';
import { scaled } from './durations';
import { recordingRules } from './recording-rules';

export const runbookBase = 'https://github.com/nightshift/nightshift/blob/main/docs/operations.md';

const yaml = (value: unknown) => stringify(value, { lineWidth: 0 });

/** The rules file of Prometheus. @param divisor see durations.ts */
export function prometheusRules(divisor = 1): string {
  const interval = divisor === 1 ? '30s' : '1s';
  return yaml({
    groups: [
      { name: 'nightshift-recordings', interval, rules: recordingRules(divisor) },
      {
        name: 'nightshift-alerts',
        interval,
        rules: alerts(divisor).map((alert) => ({
          alert: alert.name,
          expr: alert.expr,
          ...(alert.holdSeconds > 0 ? { for: scaled(alert.holdSeconds, divisor) } : {}),
          labels: { severity: alert.severity },
          annotations: {
            summary: alert.summary,
            description: alert.description,
            runbook_url: `${runbookBase}#${alert.runbook}`,
          },
        })),
      },
    ],
  });
}

export interface ScrapeOptions {
  /** Port of `/metrics` in a container. */
  readonly port: number;
  /** Compose service or headless Kubernetes service → DNS name. */
  readonly host: (service: string) => string;
}

/** Scrape configuration by DNS discovery: N replicas of a service are N targets, and they come and go without an edit. */
export function prometheusConfig({ port, host }: ScrapeOptions): string {
  return yaml({
    global: { scrape_interval: '15s', evaluation_interval: '15s' },
    rule_files: ['rules.yml'],
    alerting: { alertmanagers: [{ static_configs: [{ targets: ['alertmanager:9093'] }] }] },
    scrape_configs: serviceNames.map((service) => ({
      job_name: `nightshift-${service}`,
      dns_sd_configs: [{ names: [host(service)], type: 'A', port, refresh_interval: '10s' }],
    })),
  });
}

/** Routes every alert to one webhook; pages repeat after an hour, tickets after a day. */
export function alertmanagerConfig(webhook: string): string {
  return yaml({
    route: {
      receiver: 'team',
      group_by: ['alertname'],
      group_wait: '10s',
      group_interval: '1m',
      repeat_interval: '24h',
      routes: [{ receiver: 'team', matchers: ['severity="page"'], repeat_interval: '1h' }],
    },
    receivers: [{ name: 'team', webhook_configs: [{ url: webhook, send_resolved: true }] }],
    inhibit_rules: [
      {
        source_matchers: ['alertname="CompactionFailureRatioFast"'],
        target_matchers: ['alertname=~"CompactionFailureRatio(Slow|Trend)?"'],
      },
    ],
  });
}
