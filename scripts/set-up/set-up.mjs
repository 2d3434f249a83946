// Makes a checkout ready to run: says what it will install, asks before using sudo, installs, generates, builds.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { buildStale, buildStamp, missingPrograms, nodeFault, packagesStale, root, sourceStamp } from './missing.mjs';
import { commandOf, downloadNats, howToInstall, install, installer } from './programs.mjs';

/** A reason to stop that needs no stack trace. */
export class SetUpFault extends Error {}

function run(what, command, args, env = process.env) {
  const startedAt = Date.now();
  const { status, signal } = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (signal) throw new SetUpFault(`${what} was interrupted`);
  if (status !== 0) throw new SetUpFault(`${what} failed`);
  const seconds = (Date.now() - startedAt) / 1000;
  // What found nothing to do needs no line.
  if (seconds >= 1) console.log(`  ${what}: ${seconds.toFixed(1)} s`);
}

async function agreed(question) {
  if (!process.stdin.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^(y|yes|)$/i.test((await lines.question(`${question} [Y/n] `)).trim());
  } finally {
    lines.close();
  }
}

async function installPrograms({ yes, install: mayInstall }) {
  const missing = missingPrograms();
  if (missing.length === 0) return;
  const way = installer();
  const stopIfNeeded = (reason) => {
    const text = `${reason}\n${howToInstall(missing)}`;
    if (missing.some((one) => one.needed)) throw new SetUpFault(text);
    console.log(`${text}\n  going on without`);
  };
  if (!mayInstall) return stopIfNeeded('missing, and --no-install was given:');
  if (!way) {
    const nats = missing.find((one) => one.program === 'nats-server');
    if (nats && (await downloadNats())) missing.splice(missing.indexOf(nats), 1);
    return missing.length > 0 ? stopIfNeeded('missing, and nothing here can install it:') : undefined;
  }
  const command = commandOf(way, missing);
  console.log(`Will install: ${missing.map(({ program, why }) => `${program} (${why})`).join(', ')}\n  ${command}`);
  if (way.sudo && !yes) {
    const answer = await agreed('This uses sudo. Go on?');
    if (answer === undefined) return stopIfNeeded('this would use sudo, and nobody is here to ask (--yes agrees):');
    if (!answer) return stopIfNeeded('not installed:');
  }
  if (!install(way, missing)) {
    const nats = missing.find((one) => one.program === 'nats-server');
    if (!nats || !(await downloadNats())) stopIfNeeded(`"${command}" failed:`);
  }
}

function installPackages({ install: mayInstall }) {
  if (!packagesStale()) return;
  if (!mayInstall) throw new SetUpFault('the npm packages are missing or stale, and --no-install was given: run `npm ci`');
  console.log('Will install: the npm packages of package-lock.json into node_modules (npm ci, about 800 MB)');
  // npm started us with its own settings in the environment; a nested npm must not inherit the flags of `npm start -- …`.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_config_')));
  run('npm ci', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { ...env, NODE_ENV: 'development' });
}

function build() {
  run('prisma generate', process.execPath, [path.join(root, 'scripts/prisma-generate.mjs')]);
  if (!buildStale()) return;
  run('build', process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-b', 'tsconfig.json']);
  writeFileSync(buildStamp, sourceStamp());
}

/**
 * Programs, packages, generated code, build; only what is missing or stale.
 * @param {{ yes?: boolean, install?: boolean, build?: boolean }} options `install: false` installs nothing.
 * @throws SetUpFault with what to do.
 */
export async function setUp(options = {}) {
  const settled = { yes: false, install: true, build: true, ...options };
  const fault = nodeFault();
  if (fault) throw new SetUpFault(fault);
  await installPrograms(settled);
  installPackages(settled);
  if (settled.build) build();
}
