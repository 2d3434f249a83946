// npm run conformance -- [suite] [options]: data-file suites against the code of this checkout, no build needed.
// Without a suite: the compaction kit.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const suites = {
  compaction: '../libs/compaction/src/conformance/main.ts',
  gateway: '../services/provider-gateway/src/conformance/main.ts',
};

const given = process.argv.slice(2);
const [suite, ...options] = given[0] === undefined || given[0].startsWith('-') ? ['compaction', ...given] : given;
const entry = suites[suite];
if (!entry) {
  console.error(`usage: npm run conformance -- ${Object.keys(suites).join('|')} [options]`);
  process.exit(2);
}
process.argv.splice(2, process.argv.length, ...options);
require('../libs/testing/src/source-hook.cjs');
require(entry);
