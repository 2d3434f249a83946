import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { createPool } from '@nightshift/db';
import { startPostgres } from '@nightshift/local-stack';
import { z } from 'zod';
import { runningState } from '../local/state';
import { databaseFacts } from './database-facts';
import { differences } from './differences';
import { metricsFacts } from './metrics-facts';
import type { Report } from './report';
import { RunFolder } from './run-folder';
import { simulatorFacts } from './simulator-facts';

const leastShape = z.looseObject({ task: z.looseObject({ id: z.string() }) });

/**
 * `npm run verify-report FILE`: recomputes a report from Postgres, from what the services served at /metrics and from the
 * simulator's log, and names every difference. Returns the exit code.
 */
export async function verifyReport(
  file: string | undefined,
  stateDir: string,
  databaseUrl: string | undefined,
  say: (line: string) => void,
): Promise<number> {
  if (file === undefined) throw new NightshiftError('INVALID_ARGUMENT', 'which report? npm run verify-report -- FILE');
  const report = readReport(file);
  const run = RunFolder.all(stateDir).find((one) => one.notes()?.taskId === report.task.id);
  if (!run) throw new NightshiftError('NOT_FOUND', `no run of task ${report.task.id} in ${path.join(stateDir, 'sample')}`);
  const found = await withDatabase(stateDir, databaseUrl, async (url) => {
    const pool = createPool({ DATABASE_URL: url });
    try {
      return await databaseFacts(pool, report.task.id);
    } finally {
      await pool.end();
    }
  });
  if (!found) throw new NightshiftError('NOT_FOUND', `Postgres has no task ${report.task.id}`);
  const simulator = existsSync(run.requestLog) ? simulatorFacts(run.requestLog) : undefined;
  const all = differences(report, { database: found, metrics: metricsFacts(run.metrics), simulator });
  if (all.length === 0) {
    say(`${file} agrees with Postgres, the figures of the services${simulator ? " and the simulator's log" : ''}.`);
    return 0;
  }
  say(`${file} differs:\n${all.map((one) => `  ${one}`).join('\n')}`);
  return 1;
}

function readReport(file: string): Report {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (thrown) {
    throw new NightshiftError('INVALID_ARGUMENT', `${file}: ${(thrown as Error).message}`, { cause: thrown });
  }
  const parsed = leastShape.safeParse(content);
  if (!parsed.success) throw new NightshiftError('INVALID_ARGUMENT', `${file} is no report of npm start`);
  // Everything else in it is compared, not trusted: a missing or foreign field is a difference.
  return content as Report;
}

/** The running database, or the stopped one started on a free port for as long as `work` takes. */
async function withDatabase<T>(stateDir: string, external: string | undefined, work: (url: string) => Promise<T>): Promise<T> {
  if (external) return work(external);
  const running = runningState(stateDir)?.database;
  if (running) return work(running);
  const server = await startPostgres({ dataDir: path.join(stateDir, 'postgres') });
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}
