// npm test: everything a change must pass, on a fresh clone too. `npm test -- --only unit,int` runs some of the steps.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root } from './set-up/missing.mjs';
import { monitoringPath } from './set-up/monitoring.mjs';
import { setUp, SetUpFault } from './set-up/set-up.mjs';

const args = process.argv.slice(2);
const value = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
const only = value('--only')?.split(',');

try {
  await setUp({ yes: args.includes('--yes') || process.env.CI === 'true', install: !args.includes('--no-install') });
} catch (error) {
  if (!(error instanceof SetUpFault)) throw error;
  console.error(`\n${error.message}`);
  process.exit(1);
}

const bin = (name) => path.join(root, 'node_modules/.bin', name);
const generated = mkdtempSync(path.join(tmpdir(), 'nightshift-generated-'));
const env = {
  ...process.env,
  PATH: monitoringPath(),
  CI: process.env.CI ?? 'false',
  FORCE_COLOR: process.env.FORCE_COLOR ?? '0',
};

/**
 * Specs with real servers cut connections and leave handlers hanging on purpose; what they leave open must not hold the run
 * after its last result. One worker more than the two cores that everything is sized for, since such specs mostly wait.
 */
const realServers = ['--maxWorkers=3', '--forceExit'];

/** Steps of one group run side by side, groups one after another. A step over its `minutes` (8 unless told) is ended and failed. */
const groups = [
  [
    { name: 'proto', command: ['sh', '-c', `${bin('buf')} lint && ${bin('buf')} format -d --exit-code`] },
    // Generated code is committed; regenerating it must change nothing.
    {
      name: 'generated',
      command: [
        'sh',
        '-c',
        `${bin('buf')} generate -o ${generated} && diff -r libs/contracts/src/gen ${generated}/libs/contracts/src/gen`,
      ],
    },
    { name: 'schema', command: [process.execPath, 'scripts/check-schema-drift.mjs'] },
    { name: 'boundaries', command: [process.execPath, 'scripts/check-boundaries.mjs'] },
    { name: 'format', command: [bin('prettier'), '--check', '--log-level', 'warn', '**/*.{ts,mts,mjs,cjs}'] },
  ],
  [
    { name: 'typecheck', command: [bin('tsc'), '-p', 'tsconfig.check.json'] },
    { name: 'lint', command: [bin('eslint'), '.', '--max-warnings', '0'] },
    { name: 'unit', command: [bin('jest'), '--selectProjects', 'unit'] },
  ],
  [{ name: 'int', command: [bin('jest'), '--selectProjects', 'int', ...realServers], second: true, minutes: 12 }],
  [
    {
      name: 'e2e',
      command: [
        bin('jest'),
        ...['--selectProjects', 'e2e', '--runInBand', '--forceExit', '--testPathPatterns', '/e2e/(spine|crash-points)'],
      ],
      minutes: 8,
    },
  ],
];

const results = [];
function run({ name, command, second = false, minutes = 8, startedAt = Date.now() }) {
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const limit = setTimeout(() => {
      console.log(`ended   ${name}: still running after ${minutes} min`);
      child.kill('SIGKILL');
    }, minutes * 60_000);
    let output = '';
    const keep = (chunk) => {
      output += chunk;
      if (['unit', 'int', 'e2e'].includes(name)) process.stdout.write(chunk);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('exit', (code) => {
      clearTimeout(limit);
      // The rest of its output, but not for as long as a grandchild holds the pipe.
      const late = setTimeout(() => ended(code), 2_000);
      child.once('close', () => {
        clearTimeout(late);
        ended(code);
      });
    });
    function ended(code) {
      // Real servers on a busy machine: what failed gets one second run, alone and in band, and that is said.
      if (code !== 0 && second) {
        console.log(`second  ${name}: running what failed once more, in band`);
        const again = command.filter((word) => word !== realServers[0]);
        resolve(run({ name, command: [...again, '--onlyFailures', '--runInBand'], minutes, startedAt }));
        return;
      }
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      results.push({ name, ok: code === 0, seconds });
      if (code !== 0 && !['unit', 'int', 'e2e'].includes(name)) process.stdout.write(output);
      console.log(`${code === 0 ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`);
      resolve();
    }
  });
}

for (const group of groups) {
  const chosen = group.filter(({ name }) => only === undefined || only.includes(name));
  await Promise.all(chosen.map(run));
}
rmSync(generated, { recursive: true, force: true });
const failed = results.filter(({ ok }) => !ok);
console.log(
  `\n${results.map(({ name, ok, seconds }) => `${ok ? 'passed' : 'FAILED'}  ${name.padEnd(12)} ${seconds} s`).join('\n')}`,
);
console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 ? 0 : 1);
