// What this checkout lacks: looks only, changes nothing. Plain Node, since nothing is installed yet when it runs.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const buildStamp = path.join(root, 'node_modules/.nightshift-build');
/** The same place as natsCacheFile of libs/local-stack. */
export const natsCacheFile = path.join(homedir(), '.cache/nightshift/bin/nats-server');

const oldestNode = [20, 19];

/** The fault of this Node, or undefined. */
export function nodeFault(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  const tooOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  return tooOld ? `Node ${version} is too old: Nightshift needs ${oldestNode.join('.')} or newer` : undefined;
}

/**
 * True when node_modules lacks something of package-lock.json or holds another version of it. Packages for other
 * platforms are optional and may be absent.
 */
export function packagesStale(folder = root) {
  const installed = path.join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return true;
  const wanted = JSON.parse(readFileSync(path.join(folder, 'package-lock.json'), 'utf8')).packages;
  const found = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).some(([name, entry]) => {
    if (!name.startsWith('node_modules/') || entry.link) return false;
    const have = found[name];
    return have ? have.version !== entry.version : !entry.optional && !entry.devOptional && !entry.peer;
  });
}

function runs(command, args = ['--version']) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Programs that are missing, as { program, needed, why }. `needed`: nothing starts without it. */
export function missingPrograms(env = process.env) {
  const missing = [];
  const nats = [
    'nats-server',
    '/usr/sbin/nats-server',
    '/usr/local/bin/nats-server',
    '/opt/homebrew/bin/nats-server',
    natsCacheFile,
  ];
  if (!env.NATS_URL && !nats.some((candidate) => runs(candidate))) {
    missing.push({ program: 'nats-server', needed: true, why: 'the bus between the services' });
  }
  if (process.platform === 'linux' && !runs('bwrap')) {
    missing.push({ program: 'bubblewrap', needed: false, why: 'the sandbox for the commands of agents' });
  }
  if (!runs('git')) missing.push({ program: 'git', needed: true, why: 'worktrees and diffs of workspaces' });
  return missing;
}

/** A value that changes whenever a source file, a generated one included, is added, removed or written. */
export function sourceStamp(folder = root) {
  const hash = createHash('sha256');
  const add = (directory) => {
    for (const entry of readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = path.join(directory, entry.name);
      if (entry.isDirectory()) add(file);
      else {
        const { mtimeMs, size } = statSync(file);
        hash.update(`${file}\0${mtimeMs}\0${size}\n`);
      }
    }
  };
  for (const group of ['libs', 'services']) {
    for (const project of readdirSync(path.join(folder, group))) {
      const source = path.join(folder, group, project, 'src');
      if (!existsSync(source)) continue;
      add(source);
      // A removed dist must be noticed too.
      hash.update(`${project} ${existsSync(path.join(folder, group, project, 'dist/.tsbuildinfo'))}\n`);
    }
  }
  for (const file of ['tsconfig.json', 'tsconfig.base.json', 'package-lock.json'])
    hash.update(readFileSync(path.join(folder, file)));
  return hash.digest('hex');
}

export function buildStale(folder = root) {
  const stamp = path.join(folder, 'node_modules/.nightshift-build');
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourceStamp(folder);
}
