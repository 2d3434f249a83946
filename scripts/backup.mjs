// npm run backup -- FILE.tar.gz [--state-dir DIR]: a copy of the stopped installation: database, queues, workspaces, keys.
import { statSync } from 'node:fs';
import { backUp, CopyFault, fileOf, stateDirOf } from './set-up/state-copy.mjs';

const args = process.argv.slice(2);
const file = fileOf(args);
try {
  if (!file) throw new CopyFault('usage: npm run backup -- FILE.tar.gz [--state-dir DIR]');
  const made = await backUp(stateDirOf(args), file);
  console.log(`${made.file}  ${statSync(made.file).size} bytes  sha256 ${made.sha256}\n${made.parts.join(', ')}`);
} catch (fault) {
  if (!(fault instanceof CopyFault)) throw fault;
  console.error(fault.message);
  process.exitCode = 1;
}
