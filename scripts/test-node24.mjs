// npm run test:node24 [-- jest arguments]: the unit tests on the next long-term Node, which npm brings as a package.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { root } from './set-up/missing.mjs';

const folder = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'nightshift/node24');
const node = path.join(folder, 'node_modules/node/bin/node');
const version = () => (existsSync(node) ? spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim() : '');

if (!version().startsWith('v24.')) {
  mkdirSync(folder, { recursive: true });
  // A package of its own: npm would else climb up to one of the user's.
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-audit', '--no-fund', '--no-save', 'node@24'];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0 || !version().startsWith('v24.')) {
    console.error(`Node 24 could not be installed into ${folder}`);
    process.exit(1);
  }
}
console.log(`Node ${version()}`);
// Child processes of tests shall find the same Node.
const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` };
const jest = path.join(root, 'node_modules/jest/bin/jest.js');
const { status } = spawnSync(node, [jest, '--selectProjects', 'unit', ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: 'inherit',
});
process.exit(status ?? 1);
