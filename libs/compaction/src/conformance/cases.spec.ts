import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseCases } from './case';
import { dropOldestEngine } from './drop-oldest-engine';
import { ladderEngine } from './ladder-engine';
import { runCase, runCases } from './run-cases';

const folder = join(__dirname, '../../conformance');
const cases = readdirSync(folder)
  .filter((file) => file.endsWith('.json') && !file.startsWith('drop-oldest'))
  .flatMap((file) => parseCases(readFileSync(join(folder, file), 'utf8'), file));

test('ids are unique', () => {
  const ids = cases.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
});

test.each(cases.map((one) => [one.id, one.title, one] as const))('%s: %s', async (_id, _title, one) => {
  expect(await runCase(one, ladderEngine)).toMatchObject({ status: 'passed', faults: [] });
});

test('the naive engine fails where it must: the kit can tell the difference', async () => {
  const { results } = await runCases(cases, dropOldestEngine);
  const expected = JSON.parse(readFileSync(join(folder, 'drop-oldest.failures.json'), 'utf8')) as { failed: string[] };
  expect(results.filter(({ status }) => status === 'failed').map(({ id }) => id)).toEqual(expected.failed);
});
