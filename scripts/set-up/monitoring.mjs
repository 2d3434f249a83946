// promtool, Prometheus and Alertmanager for the tests. Debian's packages would start services on installation, so they are
// unpacked into the user's cache instead; that needs no root either.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

const cache = path.join(homedir(), '.cache/nightshift/debian');
const programs = {
  promtool: 'prometheus',
  prometheus: 'prometheus',
  amtool: 'prometheus-alertmanager',
  'prometheus-alertmanager': 'prometheus-alertmanager',
};

const onPath = (program, folders) => folders.some((folder) => existsSync(path.join(folder, program)));

/** PATH with the programs in it; fetches what is missing where apt can. The tests that need an absent one fail with its name. */
export function monitoringPath(env = process.env) {
  const folders = (env.PATH ?? '').split(path.delimiter);
  const unpacked = path.join(cache, 'usr/bin');
  const missing = new Set(
    Object.entries(programs)
      .filter(([program]) => !onPath(program, [...folders, unpacked]))
      .map(([, name]) => name),
  );
  if (missing.size > 0 && spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0) fetchPackages([...missing]);
  return [...folders, unpacked].join(path.delimiter);
}

function fetchPackages(names) {
  console.log(`Fetching ${names.join(', ')} from Debian into ${cache} (for the tests of alert rules)`);
  const scratch = mkdtempSync(path.join(tmpdir(), 'nightshift-debian-'));
  try {
    const download = () => spawnSync('apt-get', ['-q', 'download', ...names], { cwd: scratch, stdio: 'ignore' }).status === 0;
    // The package lists of a fresh container are empty; updating them needs root, and then this is a container.
    if (!download() && process.getuid?.() === 0) {
      spawnSync('apt-get', ['-q', 'update'], { stdio: 'ignore' });
      download();
    }
    mkdirSync(cache, { recursive: true });
    for (const file of readdirSync(scratch).filter((name) => name.endsWith('.deb'))) {
      spawnSync('dpkg-deb', ['-x', path.join(scratch, file), cache], { stdio: 'inherit' });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
