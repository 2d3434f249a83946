import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricTable, type MetricName } from '@nightshift/metrics';

const root = join(__dirname, '../..');

/** Code that runs in a service: no specs, and not the table itself. */
function sources(): string {
  return ['services', 'libs']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { withFileTypes: true }).map(({ name }) => join(root, folder, name, 'src')),
    )
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    .filter((file) => /(?<!\.spec)\.ts$/.test(file) && !file.endsWith('metrics/src/names.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}

describe('the table of metrics', () => {
  it('holds nothing that no code ever sets: a dashboard or alert on it would be silent for ever', () => {
    const code = sources();
    const named = new Set([...code.matchAll(/['"]([a-z][a-z0-9_]*)['"]/g)].map(([, name]) => name));
    expect((Object.keys(metricTable) as MetricName[]).filter((name) => !named.has(name))).toEqual([]);
  });

  it('has every value of its bounded labels somewhere in the code', () => {
    const words = new Set(sources().match(/[a-z0-9_]+/gi));
    const unknown = Object.entries(metricTable).flatMap(([name, { labels }]) =>
      Object.entries(labels as Record<string, readonly string[]>).flatMap(([label, values]) =>
        values.filter((value) => !words.has(value)).map((value) => `${name} ${label}=${value}`),
      ),
    );
    expect(unknown).toEqual([]);
  });
});
