import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runCases } from './run-cases';

const usage = 'usage: npm run conformance -- gateway --cases DIR [--json]\n';

/** What was asked for, or why that is nothing. */
function asked(): { folder: string; json: boolean } | string {
  try {
    const { values } = parseArgs({ options: { cases: { type: 'string' }, json: { type: 'boolean', default: false } } });
    if (!values.cases) return usage;
    if (!statSync(values.cases, { throwIfNoEntry: false })?.isDirectory()) return `${values.cases} is no folder\n${usage}`;
    return { folder: values.cases, json: values.json };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${usage}`;
  }
}

/** `npm run conformance -- gateway --cases DIR [--json]`: 0 = all passed, 1 = some failed, 2 = wrong use. */
async function main(): Promise<number> {
  const wanted = asked();
  if (typeof wanted === 'string') {
    process.stderr.write(wanted);
    return 2;
  }
  const report = await runCases(wanted.folder);
  if (wanted.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    for (const one of report.cases.filter((found) => !found.ok)) {
      process.stdout.write(`FAIL ${one.file}: ${one.name}\n${one.faults.map((fault) => `     ${fault}\n`).join('')}`);
    }
    process.stdout.write(`${report.passed} passed, ${report.failed} failed\n`);
    if (report.cases.length === 0) process.stdout.write('no *.json file with cases in that folder\n');
  }
  return report.ok ? 0 : 1;
}

void main().then((code) => process.exit(code));
