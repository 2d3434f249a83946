import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** What a benchmark found; ratios against a baseline of the same run, since machines differ and are shared. */
export interface BenchReport {
  readonly bench: string;
  readonly figures: Readonly<Record<string, number | string>>;
  /** Figure → what it should be, and whether it was. */
  readonly goals: Readonly<Record<string, { goal: string; value: number; met: boolean }>>;
  readonly pass: boolean;
  readonly machine: { readonly node: string; readonly cpus: number; readonly model: string; readonly memoryGb: number };
}

export function goal(value: number, operator: '<=' | '>=', limit: number): { goal: string; value: number; met: boolean } {
  const rounded = Number(value.toPrecision(4));
  return { goal: `${operator} ${limit}`, value: rounded, met: operator === '<=' ? value <= limit : value >= limit };
}

/** Prints a report, and writes it where `--json FILE` says. A missed goal is reported, never an exit code: machines are noisy. */
export function report(
  bench: string,
  figures: BenchReport['figures'],
  goals: BenchReport['goals'],
  args: readonly string[] = process.argv,
): BenchReport {
  const done: BenchReport = {
    bench,
    figures,
    goals,
    pass: Object.values(goals).every(({ met }) => met),
    machine: {
      node: process.version,
      cpus: cpus().length,
      model: cpus()[0]?.model ?? '',
      memoryGb: Math.round(totalmem() / 2 ** 30),
    },
  };
  for (const [name, value] of Object.entries(figures))
    console.log(`${name.padEnd(48)} ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}`);
  for (const [name, { goal: wanted, value, met }] of Object.entries(goals))
    console.log(`${met ? 'met   ' : 'MISSED'} ${name}: ${value} (goal ${wanted})`);
  const at = args.indexOf('--json');
  const file = at >= 0 ? args[at + 1] : undefined;
  if (file) writeFileSync(file, `${JSON.stringify(done, null, 2)}\n`);
  return done;
}

/** Median of a list of numbers. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN;
}

/** Runs a benchmark and ends the process: 1 where it could not be measured, whatever handles are still open. */
export function runToEnd(main: () => Promise<void>): void {
  void main().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}
