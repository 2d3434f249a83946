import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';

const leftOut = new Set(['node_modules', 'dist', '.git', '.nx', '.nightshift', 'coverage']);

function git(directory: string, ...args: string[]): void {
  const done = spawnSync('git', args, { cwd: directory, encoding: 'utf8' });
  if (done.status !== 0)
    throw new NightshiftError('FAILED_PRECONDITION', `git ${args[0]} in ${directory}: ${done.stderr || done.error}`);
}

/**
 * A copy of this repository for the sample to work in: a clone of what is committed, or, where there is no history (an
 * unpacked archive), the files with one commit of their own.
 */
export function copyRepository(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  if (existsSync(path.join(from, '.git'))) {
    // No hard links: the copy must not share files with the original, whatever runs in it.
    git(from, 'clone', '--quiet', '--no-hardlinks', '--', from, to);
    return;
  }
  cpSync(from, to, { recursive: true, filter: (file) => !leftOut.has(path.basename(file)) });
  git(to, 'init', '--quiet');
  git(to, 'add', '--all');
  git(to, '-c', 'user.name=Nightshift', '-c', 'user.email=nightshift@localhost', 'commit', '--quiet', '-m', 'A copy');
}
