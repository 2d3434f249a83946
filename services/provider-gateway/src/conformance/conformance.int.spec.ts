import path from 'node:path';
import { runCases } from './run-cases';

const cases = path.resolve(__dirname, '../../conformance');

it('passes every conformance case', async () => {
  const report = await runCases(cases);
  expect(report.cases.filter((one) => !one.ok)).toEqual([]);
  expect(report.passed).toBeGreaterThan(300);
}, 120_000);
