// npm run conformance -- <suite> [options]: data-file suites against the code of this checkout, no build needed.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const suites = { gateway: '../services/provider-gateway/src/conformance/main.ts' };

const [suite, ...options] = process.argv.slice(2);
const entry = suites[suite];
if (!entry) {
  console.error(`usage: npm run conformance -- ${Object.keys(suites).join('|')} [options]`);
  process.exit(2);
}
process.argv.splice(2, process.argv.length, ...options);
require('../libs/testing/src/source-hook.cjs');
require(entry);
