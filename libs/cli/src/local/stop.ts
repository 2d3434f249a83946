import { rmSync } from 'node:fs';
import path from 'node:path';
import { NightshiftError } from '@nightshift/contracts';
import { duration } from '../show/numbers';
import { faultsOf } from './readiness';
import { isOurs, runningState } from './state';

const stopWaitMs = 45_000;
const marks = ['start.mjs', 'local/main.js'];

/** `npm run stop`: asks the launcher to stop everything and waits until it has. */
export async function stop(stateDir: string, say: (line: string) => void): Promise<void> {
  const running = runningState(stateDir);
  if (!running) return say('Nightshift is not running.');
  process.kill(running.launcher, 'SIGTERM');
  const until = Date.now() + stopWaitMs;
  while (isOurs(running.launcher, marks)) {
    if (Date.now() > until) {
      // Its orphan guard stops whatever it had started.
      process.kill(running.launcher, 'SIGKILL');
      throw new NightshiftError(
        'DEADLINE_EXCEEDED',
        `process ${running.launcher} did not stop in ${duration(stopWaitMs)}; it was killed`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  say('Stopped. The data stay; npm start goes on with them, npm run reset removes them.');
}

/** `npm run status`: what runs, and whether it is ready. Returns the exit code: 0 ready, 1 not, 3 not running. */
export async function status(stateDir: string, say: (line: string) => void): Promise<number> {
  const running = runningState(stateDir);
  if (!running) {
    say('Nightshift is not running.');
    return 3;
  }
  say(`Nightshift runs since ${duration(Date.now() - running.startedAtMs)} (process ${running.launcher})`);
  say(`  API   ${running.addresses.api}/v1    docs  ${running.addresses.api}/docs`);
  let ready = true;
  for (const [name, url] of Object.entries(running.addresses.operations)) {
    const faults = await faultsOf(url);
    ready &&= faults.length === 0;
    say(
      `  ${name.padEnd(18)} process ${String(running.pids[name] ?? '-').padEnd(8)} ${faults.length === 0 ? 'ready' : faults.join('; ')}`,
    );
  }
  return ready ? 0 : 1;
}

/** `npm run reset`: removes everything that Nightshift keeps here, its key included. */
export async function reset(stateDir: string, say: (line: string) => void): Promise<void> {
  if (runningState(stateDir)) await stop(stateDir, say);
  // Exactly what we make; a mistaken --state-dir must not empty somebody's home.
  const ours = [
    'postgres',
    'postgres.password',
    'nats',
    'workspaces',
    'logs',
    'sample',
    'admin.key',
    'state.json',
    'nightshift.yaml',
    'simulator.json',
    'compiled',
  ];
  for (const name of ours) rmSync(path.join(stateDir, name), { recursive: true, force: true });
  say(`Removed the data in ${stateDir}.`);
}
