import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { root } from './set-up/missing.mjs';

const launcher = path.join(root, 'libs/cli/dist/local/main.js');
if (!existsSync(launcher)) {
  console.error('Nightshift was never started here: run npm start');
  process.exit(1);
}
await createRequire(import.meta.url)(launcher).main(['verify-report', ...process.argv.slice(2)], process.env);
