import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { localKeyFile, stateDir } from '../client/address';
import { readState } from './state';
import { writePrivate } from './write-private';

/** A key of the form that the api accepts: "nsk_" and 32 random bytes. */
export function newKey(): string {
  return `nsk_${randomBytes(32).toString('base64url')}`;
}

/**
 * Writes a new admin key and tells a running api to take it over in place of the lost one; the api does the same at its
 * next start. Whoever may write the key file owns the installation.
 * @returns what to tell the user.
 */
export async function resetKey(): Promise<string> {
  writePrivate(localKeyFile, `${newKey()}\n`);
  const state = readState();
  const pid = state?.services.api;
  if (pid === undefined || !isNightshift(pid)) return `a new admin key is in ${localKeyFile}; it is valid from the next start`;
  process.kill(pid, 'SIGHUP');
  return `a new admin key is in ${path.relative(stateDir, localKeyFile)} of ${stateDir}; the old one is revoked`;
}

/** A pid that was given to another program meanwhile must not get our signal. */
function isNightshift(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const commandLine = `/proc/${pid}/cmdline`;
    return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes('services/api');
  } catch {
    // No such process.
    return false;
  }
}
