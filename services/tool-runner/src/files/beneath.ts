import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { NightshiftError } from '@nightshift/contracts';

/**
 * Where a path of a tool call ends: an open directory inside the workspace and a name in it that is not a link.
 * `at` names the entry through the open directory, so that what was checked is what is used even when a command of the
 * agent swaps a directory for a link meanwhile (Node has no openat2).
 */
export interface Place {
  /** Path relative to the workspace, links resolved, `/` between parts; empty for the workspace itself. */
  readonly path: string;
  readonly at: string;
  /** undefined: nothing there yet. */
  readonly stats: Stats | undefined;
  /** The name of a sibling in the same directory. */
  sibling(name: string): string;
  close(): void;
}

const maxLinks = 40;
// Without /proc (macOS) names are joined to real paths: checked, but not proof against a swap in between.
const hasProcFd = existsSync('/proc/self/fd');

interface Level {
  fd: number;
  name: string;
}

/**
 * Finds `path` below `root` without ever leaving it: every component is opened without following links, and a link is
 * followed by hand only while it stays inside.
 * Throws PERMISSION_DENIED when the path leaves the workspace, NOT_FOUND when a directory on the way is missing.
 * @param createDirectories makes missing directories on the way.
 */
export function findBeneath(root: string, path: string, createDirectories = false): Place {
  const base = realpathSync(root);
  const levels: Level[] = [{ fd: openDirectory(base), name: '' }];
  const close = (): void => {
    for (const level of levels.splice(0)) closeSync(level.fd);
  };
  try {
    return walk(base, path, levels, createDirectories, close);
  } catch (error) {
    close();
    throw asFault(error, path);
  }
}

function walk(base: string, path: string, levels: Level[], create: boolean, close: () => void): Place {
  let pending = parts(base, path, path);
  let links = 0;
  for (;;) {
    const name = pending.shift();
    if (name === undefined) break;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (levels.length === 1) throw outside(path);
      closeSync((levels.pop() as Level).fd);
      continue;
    }
    const at = join(directoryName(base, levels), name);
    let stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) {
      if (++links > maxLinks) throw new NightshiftError('INVALID_ARGUMENT', `${path}: too many links`);
      const target = readlinkSync(at);
      const followed = parts(base, target, path);
      if (isAbsolute(target)) for (const level of levels.splice(1)) closeSync(level.fd);
      pending = [...followed, ...pending];
      continue;
    }
    const last = pending.every((part) => part === '' || part === '.');
    if (last) return place(base, levels, name, stats, close);
    if (!stats && create) {
      mkdirSync(at);
      stats = lstatSync(at);
    }
    if (!stats) throw new NightshiftError('NOT_FOUND', `${join(relativeName(levels), name)}: no such directory`);
    if (!stats.isDirectory()) {
      throw new NightshiftError('INVALID_ARGUMENT', `${join(relativeName(levels), name)} is not a directory`);
    }
    levels.push({ fd: openDirectory(at), name });
  }
  // Followed on purpose: the name of an open directory is itself a link.
  return place(base, levels, '', statSync(directoryName(base, levels)), close);
}

function place(base: string, levels: Level[], name: string, stats: Stats | undefined, close: () => void): Place {
  const directory = directoryName(base, levels);
  return {
    path: [relativeName(levels), name].filter(Boolean).join('/'),
    at: name === '' ? directory : join(directory, name),
    stats,
    sibling: (other) => join(directory, other),
    close,
  };
}

/** Path parts relative to the root; an absolute path is allowed only when it names the root or something in it. */
function parts(base: string, path: string, asked: string): string[] {
  if (path.includes('\0')) throw new NightshiftError('INVALID_ARGUMENT', 'a path cannot hold a zero byte');
  if (!isAbsolute(path)) return path.split('/');
  const inside = relative(base, path);
  if (inside === '..' || inside.startsWith('../')) throw outside(asked);
  return inside.split('/');
}

function openDirectory(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

function directoryName(base: string, levels: readonly Level[]): string {
  const deepest = levels[levels.length - 1] as Level;
  return hasProcFd ? `/proc/self/fd/${deepest.fd}` : join(base, relativeName(levels));
}

function relativeName(levels: readonly Level[]): string {
  return levels
    .slice(1)
    .map((level) => level.name)
    .join('/');
}

function outside(path: string): NightshiftError {
  return new NightshiftError('PERMISSION_DENIED', `${path} is outside of the workspace: only paths inside it can be used`);
}

const plain: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'a directory became a link while it was opened',
  ENOTDIR: 'a part of the path is not a directory',
  ENOSPC: 'no space left on the disk',
  EROFS: 'the file system is read-only',
};

/** A fault of the file system as a message for the model; anything unexpected keeps its code. */
export function asFault(error: unknown, path: string): NightshiftError {
  if (error instanceof NightshiftError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return new NightshiftError('NOT_FOUND', `${path}: no such file or directory`, { cause: error });
  if (code === undefined) return NightshiftError.from(error);
  return new NightshiftError('FAILED_PRECONDITION', `${path}: ${plain[code] ?? code}`, { cause: error });
}
