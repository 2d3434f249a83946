// npm run restore -- FILE.tar.gz [--state-dir DIR]: puts a backup in place of the stopped installation's data.
import { CopyFault, fileOf, restore, stateDirOf } from './set-up/state-copy.mjs';

const args = process.argv.slice(2);
const file = fileOf(args);
try {
  if (!file) throw new CopyFault('usage: npm run restore -- FILE.tar.gz [--state-dir DIR]');
  const { aside } = await restore(stateDirOf(args), file);
  console.log(`restored; npm start goes on with it${aside ? `. What was there is in ${aside}` : ''}`);
} catch (fault) {
  if (!(fault instanceof CopyFault)) throw fault;
  console.error(fault.message);
  process.exitCode = 1;
}
