// npm run e2e -- [faults|…] [--quick]: end-to-end specs whose name contains the word, against services built from this checkout.
// A word that is the whole name of a spec means that one only. --quick: smaller bursts, for machines that have other things to
// do. --each (crash): one load per crash point.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const run = (command, args) => {
  const { status } = spawnSync(path.join(root, 'node_modules/.bin', command), args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
};

const words = process.argv.slice(2).filter((word) => !word.startsWith('-'));
const options = process.argv.slice(2).filter((word) => word.startsWith('-') && word !== '--quick' && word !== '--each');
if (process.argv.includes('--quick')) process.env.SCALE_PASSES ??= '80';
if (process.argv.includes('--each')) process.env.CRASH_EACH = 'true';
const pattern = (word) => (existsSync(path.join(root, 'e2e', `${word}.e2e.spec.ts`)) ? `${word}\\.e2e` : word);
run('tsc', ['-b', 'tsconfig.json']);
run('jest', [
  '--selectProjects',
  'e2e',
  ...options,
  ...(words.length > 0 ? ['--testPathPatterns', `e2e/(${words.map(pattern).join('|')})`] : []),
]);
