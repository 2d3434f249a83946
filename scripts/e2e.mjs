// npm run e2e -- NAME …: end-to-end runs on the real services, by the name of their file in e2e/ (faults, windows, crash, scale, alerts, spine, crash-points).
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from './set-up/missing.mjs';
import { monitoringPath } from './set-up/monitoring.mjs';
import { setUp, SetUpFault } from './set-up/set-up.mjs';

const known = readdirSync(path.join(root, 'e2e'))
  .filter((file) => file.endsWith('.e2e.spec.ts'))
  .map((file) => file.slice(0, -'.e2e.spec.ts'.length));
const names = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const options = process.argv.slice(2).filter((arg) => arg.startsWith('--'));
const unknown = names.filter((name) => !known.includes(name));
if (names.length === 0 || unknown.length > 0) {
  console.error(`${unknown.length > 0 ? `unknown: ${unknown.join(', ')}\n` : ''}usage: npm run e2e -- ${known.join(' | ')}`);
  process.exit(2);
}
try {
  await setUp({ yes: process.env.CI === 'true' });
} catch (error) {
  if (!(error instanceof SetUpFault)) throw error;
  console.error(error.message);
  process.exit(1);
}
const pattern = `/e2e/(${names.join('|')})\\.e2e\\.spec\\.ts$`;
const child = spawn(
  process.execPath,
  [path.join(root, 'node_modules/jest/bin/jest.js'), '--selectProjects', 'e2e', '--runInBand', '--testPathPatterns', pattern],
  {
    cwd: root,
    stdio: 'inherit',
    // A run's own switches (`--each`) reach its spec through the environment.
    env: { ...process.env, PATH: monitoringPath(), E2E_OPTIONS: options.join(' ') },
  },
);
child.on('close', (code) => process.exit(code ?? 1));
