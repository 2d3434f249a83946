import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NightshiftError } from '@nightshift/contracts';

/** What a workspace is made from, after checking. */
export type Source =
  | { kind: 'directory'; directory: string; mode: 'worktree' | 'copy' | 'in_place' | '' }
  | { kind: 'clone'; url: string; ref: string };

export interface Asked {
  directory: string;
  gitUrl: string;
  gitRef: string;
  mode: string;
}

/**
 * Checks what was asked for against the allowed roots; links are resolved first.
 * Throws INVALID_ARGUMENT or PERMISSION_DENIED with the setting that would allow it.
 */
export async function checkSource(asked: Asked, allowedRoots: readonly string[], ownRoot: string): Promise<Source> {
  if ((asked.directory === '') === (asked.gitUrl === '')) {
    throw new NightshiftError('INVALID_ARGUMENT', 'a workspace needs either a directory or a git URL');
  }
  if (asked.gitUrl) return { kind: 'clone', url: await checkUrl(asked.gitUrl, allowedRoots), ref: checkRef(asked.gitRef) };
  if (!['', 'worktree', 'copy', 'in_place'].includes(asked.mode)) {
    throw new NightshiftError('INVALID_ARGUMENT', `mode: expected worktree, copy or in_place, found ${asked.mode}`);
  }
  const directory = await allowed(asked.directory, allowedRoots);
  if (within(directory, ownRoot) || within(ownRoot, directory)) {
    throw new NightshiftError('PERMISSION_DENIED', `${directory} overlaps with the runner's own files in ${ownRoot}`);
  }
  return { kind: 'directory', directory, mode: asked.mode as '' | 'worktree' | 'copy' | 'in_place' };
}

async function allowed(path: string, allowedRoots: readonly string[]): Promise<string> {
  if (!isAbsolute(path)) throw new NightshiftError('INVALID_ARGUMENT', `directory: expected an absolute path, found ${path}`);
  const real = await realpath(path).catch(() => undefined);
  const roots = await Promise.all(allowedRoots.map((root) => realpath(root).catch(() => root)));
  // The same answer for missing and forbidden paths outside of the roots: existence there is nobody's business.
  if (real === undefined || !roots.some((root) => within(real, root))) {
    throw new NightshiftError(
      'PERMISSION_DENIED',
      `${path} is not a directory below one of the allowed roots (${allowedRoots.join(', ') || 'none is set'}; see ALLOWED_ROOTS)`,
    );
  }
  if (!(await stat(real)).isDirectory()) throw new NightshiftError('INVALID_ARGUMENT', `${path} is not a directory`);
  return real;
}

/** True when `path` is `root` or lies below it; both absolute and resolved. */
export function within(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function checkUrl(url: string, allowedRoots: readonly string[]): Promise<string> {
  if (/^https:\/\/[^\s]+$/.test(url) || /^ssh:\/\/[^\s-][^\s]*$/.test(url) || /^[\w.-]+@[\w.-]+:[^\s]+$/.test(url)) return url;
  const local = url.startsWith('file://') ? filePath(url) : url;
  if (isAbsolute(local)) return allowed(local, allowedRoots);
  throw new NightshiftError('INVALID_ARGUMENT', `git_url: expected an https, ssh or file URL, found ${url}`);
}

function filePath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (error) {
    throw new NightshiftError('INVALID_ARGUMENT', `git_url: ${url} is not a file URL`, { cause: error });
  }
}

function checkRef(ref: string): string {
  // A ref that starts with a dash would be an option of git.
  if (ref === '' || /^[^-\s~^:?*[\\][^\s~^:?*[\\]*$/.test(ref)) return ref;
  throw new NightshiftError('INVALID_ARGUMENT', `git_ref: ${JSON.stringify(ref)} is not a branch, tag or commit`);
}
