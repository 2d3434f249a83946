#!/usr/bin/env node
// Committed because npm links it before anything is built.
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const main = join(__dirname, '../dist/main.js');
if (!existsSync(main)) {
  process.stderr.write('nightshift is not built yet: run `npm start` once, or `npm run build`\n');
  process.exit(1);
}
require(main);
