import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writePrivate } from './write-private';

const schema = z.object({
  /** The process that looks after the others. */
  launcher: z.int(),
  startedAtMs: z.int(),
  ready: z.boolean(),
  addresses: z.object({
    api: z.string(),
    nats: z.string(),
    /** The internal route of the provider gateway. */
    gateway: z.string().optional(),
    /** Service → where it serves /metrics and /health. */
    operations: z.record(z.string(), z.string()),
  }),
  /** With its password; this file is as private as the key. */
  database: z.string(),
  /** Service → process id; nats and postgres too. */
  pids: z.record(z.string(), z.int()),
});
/** What a running installation has written down for `stop`, `status` and the command line. */
export type LocalState = z.output<typeof schema>;

function fileIn(stateDir: string): string {
  return path.join(stateDir, 'state.json');
}

/** undefined when nothing was started, or what was is of another version. */
export function readState(stateDir: string): LocalState | undefined {
  const file = fileIn(stateDir);
  if (!existsSync(file)) return undefined;
  return schema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
}

export function writeState(stateDir: string, state: LocalState): void {
  writePrivate(fileIn(stateDir), JSON.stringify(state, null, 2));
}

export function clearState(stateDir: string): void {
  rmSync(fileIn(stateDir), { force: true });
}

/** The state of a launcher that is alive; what a killed one left behind does not count. */
export function runningState(stateDir: string): LocalState | undefined {
  const state = readState(stateDir);
  return state && isOurs(state.launcher, ['start.mjs', 'local/main.js']) ? state : undefined;
}

/** True when the process lives and its command line has one of the marks: ids are given to other programs again. */
export function isOurs(pid: number, marks: readonly string[]): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    // No such process.
    return false;
  }
  const commandLine = `/proc/${pid}/cmdline`;
  if (!existsSync(commandLine)) return process.platform !== 'linux';
  const text = readFileSync(commandLine, 'utf8');
  return marks.some((mark) => text.includes(mark));
}
