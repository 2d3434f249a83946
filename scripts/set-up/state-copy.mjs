// What a backup of the embedded installation is: a cold copy of its folder. Plain Node and tar.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { root } from './missing.mjs';

export class CopyFault extends Error {}

/** What is made again by itself; all else is kept. */
const never = ['logs', 'state.json', 'sample', 'compiled'];

export const stateDirOf = (args) => {
  const at = args.indexOf('--state-dir');
  return path.resolve(at < 0 ? (process.env.NIGHTSHIFT_STATE_DIR ?? path.join(root, '.nightshift')) : (args[at + 1] ?? ''));
};
export const fileOf = (args) => args.find((arg, index) => !arg.startsWith('--') && args[index - 1] !== '--state-dir');

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Copying files that a server writes gives a copy that cannot be trusted. */
function refuseRunning(stateDir) {
  const state = path.join(stateDir, 'state.json');
  if (existsSync(state)) {
    const { launcher, pids = {} } = JSON.parse(readFileSync(state, 'utf8'));
    if ([launcher, ...Object.values(pids)].some((pid) => pid && alive(pid)))
      throw new CopyFault(`Nightshift runs in ${stateDir}: npm run stop first`);
  }
  const postmaster = path.join(stateDir, 'postgres/postmaster.pid');
  if (existsSync(postmaster) && alive(Number(readFileSync(postmaster, 'utf8').split('\n')[0])))
    throw new CopyFault(`Postgres runs on ${path.dirname(postmaster)}: stop it first`);
}

function tar(args) {
  const { status, stderr, error } = spawnSync('tar', args, { encoding: 'utf8' });
  if (status !== 0) throw new CopyFault(`tar ${args.join(' ')}: ${error?.message ?? stderr}`);
}

async function sha256Of(file) {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file)) hash.update(piece);
  return hash.digest('hex');
}

/**
 * Writes FILE (a .tar.gz) and FILE.sha256; nothing of that name is visible before it is whole.
 * @returns its size in bytes and what is in it
 */
export async function backUp(stateDir, file) {
  refuseRunning(stateDir);
  if (!existsSync(path.join(stateDir, 'postgres/PG_VERSION'))) throw new CopyFault(`${stateDir} holds no data of Nightshift`);
  const target = path.resolve(file);
  if (existsSync(target)) throw new CopyFault(`${target} exists: choose another name`);
  if (!path.relative(stateDir, target).startsWith('..')) throw new CopyFault('the backup must lie outside of the data');
  const parts = readdirSync(stateDir).filter((name) => !never.includes(name));
  const partial = `${target}.partial`;
  mkdirSync(path.dirname(target), { recursive: true });
  // Keys and transcripts are in it: for nobody else's eyes.
  writeFileSync(partial, '', { mode: 0o600 });
  try {
    tar(['-C', stateDir, '--numeric-owner', '-czf', partial, ...parts]);
    const sha256 = await sha256Of(partial);
    writeFileSync(`${target}.sha256`, `${sha256}  ${path.basename(target)}\n`);
    renameSync(partial, target);
    return { file: target, parts, sha256 };
  } catch (fault) {
    rmSync(partial, { force: true });
    throw fault;
  }
}

/** Puts a backup in place of the data; what was there is moved aside, never removed. @returns where to */
export async function restore(stateDir, file) {
  refuseRunning(stateDir);
  const source = path.resolve(file);
  if (!existsSync(source)) throw new CopyFault(`there is no ${source}`);
  const sum = `${source}.sha256`;
  if (existsSync(sum) && readFileSync(sum, 'utf8').split(' ')[0] !== (await sha256Of(source)))
    throw new CopyFault(`${source} differs from its ${path.basename(sum)}: it is damaged`);
  mkdirSync(path.dirname(stateDir), { recursive: true });
  // Beside the data, so that the last step is a rename within one file system.
  const unpacked = mkdtempSync(`${stateDir}.restoring-`);
  try {
    tar(['-C', unpacked, '--numeric-owner', '-xpzf', source]);
    if (!existsSync(path.join(unpacked, 'postgres/PG_VERSION'))) throw new CopyFault(`${source} is no backup of Nightshift`);
    const aside = `${stateDir}.before-${new Date().toISOString().replace(/[:.]/g, '-')}`;
    const had = existsSync(stateDir);
    if (had) renameSync(stateDir, aside);
    renameSync(unpacked, stateDir);
    return { aside: had ? aside : undefined };
  } catch (fault) {
    rmSync(unpacked, { recursive: true, force: true });
    throw fault;
  }
}
