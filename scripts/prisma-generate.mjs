// Generates the Prisma client into libs/db/src/generated/prisma, offline; does nothing when its inputs are unchanged.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const output = path.join(root, 'libs/db/src/generated/prisma');
const stamp = path.join(output, '.inputs.sha256');
const lock = path.join(root, 'libs/db/src/generated/.generating');
const lockStaleMs = 60_000;

function inputs() {
  const hash = createHash('sha256');
  const schemas = readdirSync(path.join(root, 'prisma')).filter((name) => name.endsWith('.prisma'));
  for (const file of ['prisma.config.ts', 'package.json', ...schemas.sort().map((name) => `prisma/${name}`)]) {
    const text = readFileSync(path.join(root, file), 'utf8');
    hash.update(file).update('\0');
    hash.update(file === 'package.json' ? (JSON.parse(text).devDependencies?.prisma ?? '') : text).update('\0');
  }
  return hash.digest('hex');
}

const current = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === inputs();

/** mkdir is atomic; a lock left behind by a killed process is taken over after a minute. */
async function takeLock() {
  mkdirSync(path.dirname(lock), { recursive: true });
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > lockStaleMs) rmSync(lock, { recursive: true, force: true });
    await pause(100);
  }
}

if (!current()) {
  await takeLock();
  try {
    if (!current()) {
      const wanted = inputs();
      const cli = path.join(root, 'node_modules/prisma/build/index.js');
      const done = spawnSync(process.execPath, [cli, 'generate'], {
        cwd: root,
        encoding: 'utf8',
        env: {
          ...process.env,
          PRISMA_SCHEMA_ENGINE_BINARY: path.join(root, 'scripts/no-schema-engine.sh'),
          CHECKPOINT_DISABLE: '1',
          PRISMA_HIDE_UPDATE_MESSAGE: '1',
        },
      });
      if (done.status !== 0) {
        process.stderr.write(`${done.stdout}${done.stderr}`);
        process.exitCode = done.status ?? 1;
      } else {
        writeFileSync(stamp, wanted);
      }
    }
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
