import { integer, loadConfig, secret } from '@nightshift/config';
import type { Command } from 'commander';
import { z } from 'zod';
import { stateDirOf } from '../client/address';
import { print, type Context } from '../commands/context';
import { readState } from '../local/state';
import { localAckWaitMs } from '../local/service-environment';
import { findingsOf, type Finding } from './findings';
import type { Places } from './look';

const settings = {
  NATS_URL: z.string().min(1).optional(),
  NATS_USER: z.string().optional(),
  NATS_PASSWORD: secret(z.string().min(1)).optional(),
  NATS_CA_FILE: z.string().optional(),
  DATABASE_URL: secret(z.string().min(1)).optional(),
  /** What the services are configured with; consumers are compared with it. */
  ACK_WAIT_MS: integer({ min: 300, max: 600_000 }).optional(),
  /** Passes that one compactor runs at once. */
  COMPACTION_SLOTS: integer({ min: 1, max: 256 }).default(4),
};

const marks: Record<Finding['state'], string> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };

/** `doctor`: exit code 1 when something does not work, with `--strict` also when something will hurt. */
export function doctorCommand(program: Command, context: Context): void {
  program
    .command('doctor')
    .description('check server, queues, database, sandbox, providers, clocks and windows, and say how many compactors are wanted')
    .option('--strict', 'warnings fail too')
    .option('--json')
    .action(async (options: { strict?: boolean; json?: boolean }) => {
      // Only here: what talks to NATS and Postgres takes a quarter of a second to load.
      // eslint-disable-next-line @typescript-eslint/no-require-imports, @typescript-eslint/consistent-type-imports -- import() of a CommonJS file needs its compiled name
      const { look } = require('./look') as typeof import('./look');
      const { findings, scaling } = findingsOf(await look(() => context.api(), placesOf()));
      const failed = findings.some(({ state }) => state === 'fail' || (options.strict === true && state === 'warn'));
      print(context, options.json, { ok: !failed, findings, scaling }, () => text(findings));
      if (failed) process.exitCode = 1;
    });
}

/** The environment of a service, or the installation of this checkout. */
export function placesOf(): Places {
  const given = loadConfig(settings);
  const local = readState(stateDirOf());
  const nats = {
    url: given.NATS_URL ?? local?.addresses.nats ?? 'nats://127.0.0.1:4222',
    user: given.NATS_USER,
    password: given.NATS_PASSWORD,
    caFile: given.NATS_CA_FILE,
  };
  return {
    nats,
    ackWaitMs: given.ACK_WAIT_MS ?? (given.NATS_URL === undefined && local ? localAckWaitMs : 30_000),
    databaseUrl: given.DATABASE_URL ?? local?.database ?? 'postgresql://127.0.0.1:5432/nightshift',
    slots: given.COMPACTION_SLOTS,
  };
}

function text(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings.map(({ check, state, text }) => `${marks[state]}  ${check.padEnd(width)}  ${text}\n`).join('');
}
