import { spawnSync } from 'node:child_process';
import { NightshiftError } from '@nightshift/contracts';

/** How to start a program that refuses to run as root. */
export interface RunAs {
  prefix: readonly string[];
  uid?: number;
  gid?: number;
}

const userNamespace = ['unshare', '-U', '--map-user=1000', '--map-group=1000'];

function idOf(flag: '-u' | '-g'): number | undefined {
  const found = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
  return found.status === 0 ? Number(found.stdout) : undefined;
}

/**
 * Not root: as is. Root: inside a user namespace where we are somebody else and root-only folders stay readable; where
 * a container forbids namespaces, as the user `postgres`.
 * @throws FAILED_PRECONDITION when neither works.
 */
export function rootWrapper(): RunAs {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const [command = '', ...args] = userNamespace;
  if (spawnSync(command, [...args, 'true']).status === 0) return { prefix: userNamespace };
  const uid = idOf('-u');
  const gid = idOf('-g');
  if (uid === undefined || gid === undefined) {
    throw new NightshiftError(
      'FAILED_PRECONDITION',
      'Postgres refuses to run as root, this machine forbids user namespaces and has no user postgres: run as another user, ' +
        'add one (useradd --system postgres), or set DATABASE_URL',
    );
  }
  return { prefix: [], uid, gid };
}
