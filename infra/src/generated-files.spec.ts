import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricTable, wireName, type MetricName } from '@nightshift/metrics';
import { alerts } from './alerts';
import { recordingRules } from './recording-rules';
import { dashboards, generatedFiles } from './generated-files';

const root = join(__dirname, '..');
const wireNames = new Set(
  (Object.keys(metricTable) as MetricName[]).flatMap((name) => [
    wireName(name),
    ...['_bucket', '_sum', '_count'].map((suffix) => wireName(name) + suffix),
  ]),
);
const recorded = new Set(recordingRules().map(({ record }) => record));

function unknownNames(expr: string): string[] {
  return (expr.match(/\bnightshift[:_][a-zA-Z0-9_:]+/g) ?? []).filter((name) => !wireNames.has(name) && !recorded.has(name));
}

describe('generated files', () => {
  it.each(Object.entries(generatedFiles()))('%s is current (npm run infra:generate)', (path, content) => {
    expect(existsSync(join(root, path)) && readFileSync(join(root, path), 'utf8')).toBe(content);
  });

  it('name only metrics of the table and recording rules of the rules file', () => {
    for (const { name, expr } of alerts()) expect([name, unknownNames(expr)]).toEqual([name, []]);
    for (const { record, expr } of recordingRules()) expect([record, unknownNames(expr)]).toEqual([record, []]);
    for (const [name, build] of Object.entries(dashboards))
      expect([name, unknownNames(JSON.stringify(build()).replaceAll(/nightshift-[a-z-]+/g, ''))]).toEqual([name, []]);
  });

  it('give every alert a part of the runbook', () => {
    const operations = readFileSync(join(root, '../docs/operations.md'), 'utf8');
    for (const { runbook } of alerts()) expect(operations).toMatch(new RegExp(`^#+ ${runbook}$`, 'm'));
  });

  it('use fixed uids, one schema version, no id and no data source by name', () => {
    for (const build of Object.values(dashboards)) {
      const board = build();
      expect(board.uid).toMatch(/^nightshift-[a-z]+$/);
      expect('id' in board).toBe(false);
      for (const panel of board.panels)
        if (panel.type !== 'row') expect(panel.datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    }
  });
});
