// npm start: sets up what is missing, then hands over to the launcher in this same process, so that an interrupt has one
// process to reach.
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './set-up/missing.mjs';
import { setUp, SetUpFault } from './set-up/set-up.mjs';

const args = process.argv.slice(2);
const has = (name) => args.includes(name);

if (has('--help') || has('-h')) {
  console.log(`npm start -- [options]

  --once                  run the sample task, write the report, stop; exit code 0 only if everything happened
  --report FILE           write the report of the sample task as JSON
  --model PROVIDER/MODEL  do the sample's job on a real model (nightshift.yaml, key in the environment; costs money)
  --sample                run the sample task again
  --no-sample             only start the platform
  --allow-unsandboxed     run the sample's commands without a sandbox where none works
  --allow-root DIR        directory below which tasks may work (repeat for more)
  --kill SERVICE          which service the sample kills in the middle (provider-gateway)
  --yes                   agree to everything, sudo included
  --no-install            install nothing; say what is missing
  --state-dir DIR         where data are kept (.nightshift)
  --port-offset N         added to every port, to run a second installation`);
  process.exit(0);
}

try {
  await setUp({ yes: has('--yes'), install: !has('--no-install') });
} catch (error) {
  if (!(error instanceof SetUpFault)) throw error;
  console.error(`\n${error.message}`);
  process.exit(1);
}
const require = createRequire(import.meta.url);
const { main } = require(path.join(root, 'libs/cli/dist/local/main.js'));
await main(['start', ...args.filter((arg) => arg !== '--yes' && arg !== '--no-install')], process.env);
