import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { caseFile, caseSchema } from './case-schema';
import { runCase } from './run-case';

export interface CaseOutcome {
  file: string;
  name: string;
  ok: boolean;
  faults: string[];
  ms: number;
}

export interface CasesReport {
  ok: boolean;
  passed: number;
  failed: number;
  cases: CaseOutcome[];
}

/** How many cases run at once: they mostly wait for sockets. */
const atOnce = 8;

/** Runs every case of every *.json file of a folder; a file that does not parse is a failed case. */
export async function runCases(folder: string): Promise<CasesReport> {
  const waiting = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((file) => read(folder, file));
  const cases: CaseOutcome[] = new Array<CaseOutcome>(waiting.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < waiting.length; index = next++) cases[index] = await (waiting[index] as Waiting)();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const failed = cases.filter((one) => !one.ok).length;
  return { ok: failed === 0 && cases.length > 0, passed: cases.length - failed, failed, cases };
}

type Waiting = () => Promise<CaseOutcome>;

function read(folder: string, file: string): Waiting[] {
  const broken =
    (name: string, faults: string[]): Waiting =>
    () =>
      Promise.resolve({ file, name, ok: false, faults, ms: 0 });
  let content: unknown[];
  try {
    content = caseFile.parse(JSON.parse(readFileSync(path.join(folder, file), 'utf8')));
  } catch (error) {
    return [broken('(file)', [`not a case file: ${error instanceof Error ? error.message : String(error)}`])];
  }
  return content.map((raw, index) => {
    const parsed = caseSchema.safeParse(raw);
    const name = typeof raw === 'object' && raw !== null && 'name' in raw ? String(raw.name) : `case ${index + 1}`;
    if (!parsed.success)
      return broken(
        name,
        parsed.error.issues.map((issue) => `${issue.path.map(String).join('.') || '(top)'}: ${issue.message}`),
      );
    return async () => {
      const startedAt = performance.now();
      const faults = await runCase(parsed.data).catch((error: unknown) => [
        `the runner failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      ]);
      return { file, name, ok: faults.length === 0, faults, ms: Math.round(performance.now() - startedAt) };
    };
  });
}
