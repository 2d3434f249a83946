import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { isOurs, runningState } from './state';
import { writePrivate } from './write-private';

/** A key of the form that the api accepts: "nsk_" and 32 random bytes. */
export function newKey(): string {
  return `nsk_${randomBytes(32).toString('base64url')}`;
}

export function keyFileIn(stateDir: string): string {
  return path.join(stateDir, 'admin.key');
}

/**
 * Writes a new admin key and tells a running api to take it over in place of the lost one; the api does the same at its
 * next start. Whoever may write the key file owns the installation.
 * @returns what to tell the user.
 */
export function resetKey(stateDir: string): string {
  const file = keyFileIn(stateDir);
  writePrivate(file, `${newKey()}\n`);
  const pid = runningState(stateDir)?.pids.api;
  if (pid === undefined || !isOurs(pid, ['services/api']))
    return `a new admin key is in ${file}; it is valid from the next start`;
  process.kill(pid, 'SIGHUP');
  return `a new admin key is in ${file}; the old one is revoked`;
}
