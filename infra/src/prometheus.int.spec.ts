import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { alertCases, upOf, type AlertCase } from './alert-cases';
import { alerts, requiredJobs } from './alerts';
import { dashboards } from './generated-files';
import { alertmanagerConfig, prometheusConfig, prometheusRules } from './prometheus';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'nightshift-promtool-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function tool(name: string, ...args: string[]): string {
  try {
    return execFileSync(name, args, { cwd: dir, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const failed = error as { code?: string; stdout?: string; stderr?: string };
    if (failed.code === 'ENOENT') throw new Error(`${name} is not installed: apt-get install prometheus prometheus-alertmanager`);
    throw new Error(`${failed.stdout}${failed.stderr}`);
  }
}
const write = (name: string, content: string) => writeFileSync(join(dir, name), content);

describe('the rules of Prometheus', () => {
  it('are accepted by promtool, also with the windows of the live test', () => {
    write('rules.yml', prometheusRules());
    write('rules-live.yml', prometheusRules(60));
    write('prometheus.yml', prometheusConfig({ port: 9464, host: (service) => service }));
    write('alertmanager.yml', alertmanagerConfig('http://127.0.0.1:9095/alerts'));
    tool('promtool', 'check', 'rules', 'rules.yml', 'rules-live.yml');
    tool('promtool', 'check', 'config', 'prometheus.yml');
    tool('amtool', 'check-config', 'alertmanager.yml');
  });

  it('have a case that fires and one that does not for every alert', () => {
    for (const { name } of alerts()) {
      const cases = alertCases.filter((one) => one.alert === name);
      expect([name, cases.some((one) => one.firing.includes(name))]).toEqual([name, true]);
      const quiet =
        cases.some((one) => !one.firing.includes(name)) ||
        alertCases.some((one) => one.firing.length > 0 && !one.firing.includes(name));
      expect([name, quiet]).toEqual([name, true]);
    }
  });

  it('fire exactly where a case says so', () => {
    write('rules.yml', prometheusRules());
    const test = ({ alert, what, series, at, firing }: AlertCase) => ({
      name: `${alert}: ${what}`,
      interval: '1m',
      input_series: [
        ...(series.some(({ series: name }) => name.startsWith('up{job="nightshift-api"')) ? [] : upOf(requiredJobs)),
        ...series,
      ],
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: `${at}m`,
          exp_samples: [...firing].sort().map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
        },
      ],
    });
    // Cases over days are evaluated every ten minutes: each minute of them would cost half a minute of this run.
    const file = (evaluation_interval: string, cases: readonly AlertCase[]) =>
      stringify({ rule_files: ['rules.yml'], evaluation_interval, tests: cases.map(test) });
    write(
      'hours.yml',
      file(
        '1m',
        alertCases.filter(({ at }) => at < 1000),
      ),
    );
    write(
      'days.yml',
      file(
        '10m',
        alertCases.filter(({ at }) => at >= 1000),
      ),
    );
    expect(tool('promtool', 'test', 'rules', 'hours.yml', 'days.yml')).not.toContain('FAILED');
  });
});

describe('the dashboards', () => {
  it.each(Object.entries(dashboards))('%s: every expression is PromQL', (name, build) => {
    const expressions = build().panels.flatMap((panel) => ((panel.targets ?? []) as { expr: string }[]).map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(0);
    const concrete = (expr: string) =>
      expr
        .replaceAll('$__rate_interval', '5m')
        .replaceAll('$__range', '6h')
        .replaceAll(/\$(provider|team)/g, '.*');
    write(
      `${name}.yml`,
      stringify({
        groups: [{ name, rules: expressions.map((expr, index) => ({ record: `panel:${name}:${index}`, expr: concrete(expr) })) }],
      }),
    );
    tool('promtool', 'check', 'rules', `${name}.yml`);
  });
});
