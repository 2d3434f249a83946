// npm run bench -- NAME [--json FILE]: benchmarks, as ratios against a baseline measured in the same run.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from './set-up/missing.mjs';
import { setUp, SetUpFault } from './set-up/set-up.mjs';

const parts = new Set(['report']);
const known = readdirSync(path.join(root, 'bench/src'))
  .filter((file) => /^[a-z]+\.ts$/.test(file))
  .map((file) => file.slice(0, -'.ts'.length))
  .filter((name) => !parts.has(name));
const [name, ...rest] = process.argv.slice(2);
if (!known.includes(name)) {
  console.error(`usage: npm run bench -- ${known.join(' | ')} [--json FILE]`);
  process.exit(2);
}
try {
  await setUp({ yes: process.env.CI === 'true' });
} catch (error) {
  if (!(error instanceof SetUpFault)) throw error;
  console.error(error.message);
  process.exit(1);
}
const run = (args) => spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
const built = run([path.join(root, 'node_modules/typescript/bin/tsc'), '-b', 'bench']);
process.exit(built === 0 ? run(['--expose-gc', path.join(root, 'bench/dist', `${name}.js`), ...rest]) : built);
