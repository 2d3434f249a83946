import { isNightshiftError, NightshiftError } from '@nightshift/contracts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseCases } from './case';
import type { Case } from './case';
import { dropOldestEngine } from './drop-oldest-engine';
import type { Engine } from './engine';
import { playHistory, scenarioOf } from './histories';
import { ladderEngine } from './ladder-engine';
import { runCases } from './run-cases';
import type { KitReport } from './run-cases';

const usage = `usage: npm run conformance -- [options]
  --cases DIR      run the cases of this folder beside the project's own
  --only DIR       run the cases of this folder alone
  --engine NAME    nightshift (default), drop-oldest, or a CommonJS module that exports \`engine\`
  --histories N    check the invariants over N generated histories as well (--from SEED: starting at this one)
  --json           print the report as JSON
`;
const ownCases = join(__dirname, '../../conformance');

interface HistoriesReport {
  readonly histories: number;
  readonly passes: number;
  readonly commits: number;
  readonly broken: readonly { readonly seed: number; readonly what: readonly string[] }[];
}

/** 0 = all passed, 1 = some failed, 2 = wrong use or faulty cases. */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string' },
      only: { type: 'string' },
      engine: { type: 'string', default: 'nightshift' },
      histories: { type: 'string', default: '0' },
      from: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
    },
  });
  const folders = values.only === undefined ? [ownCases, ...(values.cases ? [values.cases] : [])] : [values.only];
  const kit = await runCases(folders.flatMap(casesOf), engineNamed(values.engine));
  const histories = await playMany(wholeNumber('histories', values.histories), wholeNumber('from', values.from), values.json);
  const failed = kit.results.filter(({ status }) => status === 'failed').length;
  const ok = failed === 0 && histories.broken.length === 0;
  if (values.json) {
    const passed = kit.results.filter(({ status }) => status === 'passed').length;
    const skipped = kit.results.length - passed - failed;
    process.stdout.write(`${JSON.stringify({ ok, passed, failed, skipped, ...kit, histories }, null, 2)}\n`);
  } else print(kit, histories);
  return ok ? 0 : 1;
}

function casesOf(folder: string): Case[] {
  if (!existsSync(folder)) throw new NightshiftError('INVALID_ARGUMENT', `there is no folder ${folder}`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.json') && !file.endsWith('.failures.json'));
  return files.sort().flatMap((file) => parseCases(readFileSync(join(folder, file), 'utf8'), join(folder, file)));
}

function engineNamed(name: string): Engine {
  const known = [ladderEngine, dropOldestEngine].find((engine) => engine.name === name);
  if (known) return known;
  const loaded = createRequire(__filename)(resolve(name)) as { readonly engine?: Engine };
  if (!loaded.engine?.open) throw new NightshiftError('INVALID_ARGUMENT', `${name} exports no \`engine\``);
  return loaded.engine;
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new NightshiftError('INVALID_ARGUMENT', `--${name}: expected a whole number, got ${text}`);
  return Number(text);
}

async function playMany(count: number, from: number, quiet: boolean): Promise<HistoriesReport> {
  const broken: { seed: number; what: readonly string[] }[] = [];
  let passes = 0;
  let commits = 0;
  for (let i = 0; i < count; i++) {
    const seed = from + i;
    const played = await playHistory(scenarioOf(seed));
    passes += played.passes;
    commits += played.commits;
    if (played.broken.length > 0) broken.push({ seed, what: played.broken });
    if (!quiet && (i + 1) % 1_000 === 0) process.stderr.write(`${i + 1} of ${count} histories, ${broken.length} broken\n`);
  }
  return { histories: count, passes, commits, broken };
}

function print(kit: KitReport, histories: HistoriesReport): void {
  for (const { id, title, faults, status } of kit.results) {
    if (status === 'failed') process.stdout.write(`FAIL ${id}: ${title}\n${faults.map((fault) => `     ${fault}\n`).join('')}`);
  }
  for (const [kind, { passed, failed, skipped }] of Object.entries(kit.byKind)) {
    process.stdout.write(`${kind.padEnd(14)} ${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  }
  if (histories.histories === 0) return;
  for (const { seed, what } of histories.broken.slice(0, 20))
    process.stdout.write(`BROKEN history ${seed}: ${what.join('; ')}\n`);
  const { passes, commits, broken } = histories;
  process.stdout.write(
    `${histories.histories} histories, ${passes} passes, ${commits} commits, ${broken.length} with a broken invariant\n`,
  );
}

main().then(
  (code) => process.exit(code),
  (thrown: unknown) => {
    const error = NightshiftError.from(thrown);
    process.stderr.write(
      `${error.text}\n${error.faults.map((fault) => `  ${fault}\n`).join('')}${isNightshiftError(thrown) ? '' : usage}`,
    );
    process.exit(2);
  },
);
