import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline/promises';

const bubblewrap = [
  'bwrap',
  '--ro-bind',
  '/',
  '/',
  '--tmpfs',
  '/tmp',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
  '--unshare-all',
  'true',
];
const seatbelt = ['sandbox-exec', '-p', '(version 1)(allow default)', '/usr/bin/true'];

/** Why no sandbox works here, or undefined; the runner's own probe at its start has the last word. */
export function sandboxFault(platform = process.platform): string | undefined {
  const [command = '', ...args] = platform === 'darwin' ? seatbelt : bubblewrap;
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: 10_000 });
  if (done.status === 0) return undefined;
  if (done.error) return `${command} is not installed`;
  return `${command}: ${done.stderr.trim().split('\n')[0] ?? `exit code ${done.status}`}`;
}

/** Asks once whether the sample's commands may run without a sandbox; without a terminal the answer is no. */
export async function mayRunUnsandboxed(fault: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const question = `No sandbox works here (${fault}).\nRun the commands of the scripted sample without one? They only touch its copy. [y/N] `;
    return /^y(es)?$/i.test((await lines.question(question)).trim());
  } finally {
    lines.close();
  }
}
