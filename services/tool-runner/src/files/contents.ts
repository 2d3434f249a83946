import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { NightshiftError } from '@nightshift/contracts';
import { asFault, type Place } from './beneath';

/** Larger files are read by range without a hash and cannot be edited. */
export const maxWholeBytes = 32 * 1024 * 1024;

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The content of a regular file; undefined when nothing is there. Throws for directories, devices and pipes. */
export async function readWhole(place: Place): Promise<Buffer | undefined> {
  if (place.stats === undefined) return undefined;
  refuseOther(place);
  if (place.stats.size > maxWholeBytes) {
    throw new NightshiftError(
      'FAILED_PRECONDITION',
      `${place.path} has ${place.stats.size} bytes; files above ${maxWholeBytes} bytes are only read by range`,
    );
  }
  // O_NONBLOCK: a pipe swapped in after the check must not hang the runner.
  const file = await open(place.at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    throw asFault(error, place.path);
  });
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export function refuseOther(place: Place): void {
  if (place.stats?.isDirectory()) {
    throw new NightshiftError('INVALID_ARGUMENT', `${place.path || '.'} is a directory: list_files shows what is in it`);
  }
  if (place.stats && !place.stats.isFile()) {
    throw new NightshiftError('INVALID_ARGUMENT', `${place.path} is neither a file nor a directory`);
  }
}

/** Where the new content of a file is written first: by the name of the file, so that a repetition finds what a crash left. */
export function temporaryName(path: string): string {
  return `.nightshift-${sha256(path).slice(0, 12)}.tmp`;
}

/** Replaces a file in one step: readers see the old or the new content, also after a crash. Keeps the mode. */
export async function replaceWhole(place: Place, content: string | Uint8Array): Promise<void> {
  const temporary = place.sibling(temporaryName(place.path));
  try {
    // What lies there is of a runner that was killed, or a link that a command has put there: neither is followed.
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', place.stats ? place.stats.mode & 0o777 : 0o644);
    try {
      // The mode given to open is cut by the umask.
      if (place.stats) await file.chmod(place.stats.mode & 0o777);
      await file.writeFile(content);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, place.at);
  } catch (error) {
    await rm(temporary, { force: true });
    throw asFault(error, place.path);
  }
}
