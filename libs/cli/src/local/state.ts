import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { stateDir } from '../client/address';
import { writePrivate } from './write-private';

const schema = z.object({
  /** The process that looks after the others. */
  launcher: z.int(),
  startedAtMs: z.int(),
  addresses: z.object({
    api: z.string(),
    docs: z.string(),
    nats: z.string(),
    natsMonitor: z.string().optional(),
    /** Service → where it serves /metrics and /health. */
    operations: z.record(z.string(), z.string()),
  }),
  /** Service → process id; nats and postgres too. */
  services: z.record(z.string(), z.int()),
});
/** What a running installation has written down for `stop`, `status` and the command line. */
export type LocalState = z.output<typeof schema>;

const stateFile = path.join(stateDir, 'state.json');

/** undefined when nothing runs, or what runs is of another version. */
export function readState(): LocalState | undefined {
  if (!existsSync(stateFile)) return undefined;
  return schema.safeParse(JSON.parse(readFileSync(stateFile, 'utf8'))).data;
}

export function writeState(state: LocalState): void {
  writePrivate(stateFile, JSON.stringify(state, null, 2));
}

export function clearState(): void {
  rmSync(stateFile, { force: true });
}
