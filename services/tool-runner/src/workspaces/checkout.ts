import { cp, lstat, mkdir, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { Baseline } from './baseline';
import type { Git } from './git';
import type { Source } from './source';
import type { WorkspaceLayout, WorkspaceRecord } from './workspace';

type Checkout = Pick<WorkspaceRecord, 'path' | 'mode' | 'baseCommit' | 'baseTree' | 'sharedObjects'>;

/** Makes the working tree of a new workspace. What an earlier, interrupted attempt left is removed first. */
export async function checkOut(git: Git, source: Source, at: WorkspaceLayout, signal?: AbortSignal): Promise<Checkout> {
  await rm(at.home, { recursive: true, force: true });
  await mkdir(at.temporary, { recursive: true });
  if (source.kind === 'clone') {
    await git.run(['clone', '--quiet', '--bare', '--no-local', '--', source.url, at.repository], { signal, timeoutMs: 115_000 });
    const commit = await resolve(git, at.repository, source.ref || 'HEAD');
    return { ...(await share(git, at.repository, at.repository, commit, at, source.url)), mode: 'clone' };
  }
  const isGit = existsSync(join(source.directory, '.git'));
  const mode = source.mode || (isGit ? 'worktree' : 'in_place');
  if (mode === 'worktree') {
    if (!isGit)
      throw new NightshiftError(
        'INVALID_ARGUMENT',
        `${source.directory} is not the root of a git repository: use copy or in_place`,
      );
    const common = await git.line(['rev-parse', '--path-format=absolute', '--git-common-dir'], { directory: source.directory });
    const commit = await git.line(['rev-parse', '--verify', 'HEAD^{commit}'], { directory: source.directory });
    return { ...(await share(git, source.directory, common, commit, at, source.directory)), mode };
  }
  let path = source.directory;
  if (mode === 'copy') {
    path = at.tree;
    await cp(source.directory, path, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter: canBeCopied });
  }
  // The state to compare with is taken before the first change: a task that only reads never pays for it.
  return { path, mode, baseCommit: isGit ? await headOf(git, path) : '', baseTree: '', sharedObjects: '' };
}

/** Pipes, sockets and devices stay behind: they have no content. */
async function canBeCopied(path: string): Promise<boolean> {
  const stats = await lstat(path);
  return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
}

/**
 * A checkout of its own that reads the objects of the source repository and never writes there: a real `git worktree`
 * would give the commands of the agent the references, hooks and configuration of the user's repository.
 */
async function share(
  git: Git,
  from: string,
  common: string,
  commit: string,
  at: WorkspaceLayout,
  origin: string,
): Promise<Omit<Checkout, 'mode'>> {
  await git.run(['clone', '--quiet', '--shared', '--no-checkout', '--', from, at.tree]);
  await git.run(['remote', 'set-url', 'origin', withoutPassword(origin)], { directory: at.tree });
  await git.run(['checkout', '--quiet', '-B', 'nightshift', commit], { directory: at.tree });
  const baseline = new Baseline(git, at.baseline, at.tree);
  const sharedObjects = join(common, 'objects');
  await baseline.create(sharedObjects);
  return { path: at.tree, baseCommit: commit, baseTree: await baseline.readTree(commit), sharedObjects };
}

/** Branch, tag or commit, also one that only exists as a remote branch. */
async function resolve(git: Git, repository: string, ref: string): Promise<string> {
  const found = await git.run(
    ['--git-dir', repository, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`],
    {},
    [0, 1, 128],
  );
  if (found.code === 0) return found.stdout.toString('utf8').trim();
  throw new NightshiftError('NOT_FOUND', `git_ref: ${ref} is not a branch, tag or commit of the repository`);
}

async function headOf(git: Git, directory: string): Promise<string> {
  const found = await git.run(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { directory }, [0, 1, 128]);
  return found.code === 0 ? found.stdout.toString('utf8').trim() : '';
}

function withoutPassword(url: string): string {
  return url.replace(/^(https:\/\/)[^@/]*@/, '$1');
}
