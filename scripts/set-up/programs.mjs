// Installs programs: Debian packages where that is possible, Homebrew on macOS, else nats-server from its own release.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { natsCacheFile } from './missing.mjs';

const release = '2.10.10';
/** SHA-256 of the archives of the official release. */
const archives = {
  'linux-x64': ['linux-amd64', 'c8cd7e19b906a5f8a7f9f7e70fc4bfa492d66a069d9664c4db19fdee1b6aa640'],
  'darwin-x64': ['darwin-amd64', '5b6bfed8f75ecb2f6465b87334f4e757a66c32b6c5f802e964a080a3716ffffb'],
  'darwin-arm64': ['darwin-arm64', '8af6cbd8f3f21bcec164d17bc879d3e7807cd98e1c7839ac668986a71c4e52c6'],
};

const quietly = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** How programs can be installed here: { kind, sudo } or undefined. */
export function installer() {
  if (process.platform === 'darwin') return quietly('brew', ['--version']) ? { kind: 'brew', sudo: false } : undefined;
  if (process.platform !== 'linux' || !quietly('apt-get', ['--version'])) return undefined;
  if (process.getuid() === 0) return { kind: 'apt', sudo: false };
  return quietly('sudo', ['-n', 'true']) ? { kind: 'apt', sudo: true } : undefined;
}

/** The command line that would be run, for showing. */
export function commandOf({ kind, sudo }, programs) {
  const names = programs.map((one) => one.program).join(' ');
  return kind === 'brew' ? `brew install ${names}` : `${sudo ? 'sudo ' : ''}apt-get install -y --no-install-recommends ${names}`;
}

/** True when it worked. */
export function install({ kind, sudo }, programs) {
  const names = programs.map((one) => one.program);
  if (kind === 'brew') return spawnSync('brew', ['install', ...names], { stdio: 'inherit' }).status === 0;
  const apt = (...args) => {
    const [command, ...rest] = [
      ...(sudo ? ['sudo', '-n'] : []),
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-q',
      ...args,
    ];
    return spawnSync(command, rest, { stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
  };
  const packages = ['install', '-y', '--no-install-recommends', ...names];
  // The package lists of a fresh container are empty or old.
  return apt(...packages) || (apt('update') && apt(...packages));
}

/** Puts nats-server into the user's cache; false with a reason on the console when that does not work. */
export async function downloadNats() {
  const archive = archives[`${process.platform}-${process.arch}`];
  if (!archive) return false;
  const [platform, sha256] = archive;
  const name = `nats-server-v${release}-${platform}`;
  const url = `https://github.com/nats-io/nats-server/releases/download/v${release}/${name}.tar.gz`;
  console.log(`  fetching ${url}`);
  const scratch = mkdtempSync(path.join(tmpdir(), 'nightshift-nats-'));
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const found = createHash('sha256').update(bytes).digest('hex');
    if (found !== sha256) throw new Error(`its SHA-256 is ${found}, expected ${sha256}`);
    writeFileSync(path.join(scratch, 'nats.tar.gz'), bytes);
    if (!quietly('tar', ['-xzf', path.join(scratch, 'nats.tar.gz'), '-C', scratch])) throw new Error('tar could not unpack it');
    mkdirSync(path.dirname(natsCacheFile), { recursive: true });
    chmodSync(path.join(scratch, name, 'nats-server'), 0o755);
    quietly('cp', [path.join(scratch, name, 'nats-server'), `${natsCacheFile}.new`]);
    renameSync(`${natsCacheFile}.new`, natsCacheFile);
    return true;
  } catch (error) {
    console.log(`  that did not work: ${error.message}`);
    return false;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const byHand = {
  'nats-server': {
    Debian: 'apt-get install nats-server',
    macOS: 'brew install nats-server',
    Docker: 'docker run -d -p 4222:4222 nats:2 -js, then set NATS_URL=nats://127.0.0.1:4222',
  },
  bubblewrap: {
    Debian: 'apt-get install bubblewrap',
    Docker: 'docker compose up (the images bring it)',
  },
  git: { Debian: 'apt-get install git', macOS: 'xcode-select --install', Docker: 'docker compose up (the images bring it)' },
};

/** One message that says what to install on Debian, macOS or with Docker. */
export function howToInstall(programs) {
  const lines = programs.flatMap(({ program, why }) => [
    `  ${program} (${why})`,
    ...Object.entries(byHand[program]).map(([system, command]) => `    ${`${system}:`.padEnd(8)} ${command}`),
  ]);
  return lines.join('\n');
}
