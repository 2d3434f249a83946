import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Environment } from '@nightshift/config';
import { NightshiftError } from '@nightshift/contracts';
import { Api } from '../client/api';
import { RunFolder } from '../sample/run-folder';
import { runSample } from '../sample/run-sample';
import { sampleChain, simulatorConfig, simulatorKeys, simulatorProviders } from '../sample/simulator-setup';
import { duration } from '../show/numbers';
import { standardOutput } from '../show/screen';
import { interruption } from './interruption';
import { layoutOf, serviceNames, type Layout } from './layout';
import { Logs } from './logs';
import { providerFileOf, type ProviderFile } from './provider-file';
import { keyFileIn, newKey } from './reset-key';
import { mayRunUnsandboxed, sandboxFault } from './sandbox-probe';
import type { StackUrls } from './service-environment';
import { Stack } from './stack';
import { clearState, readState, runningState, writeState } from './state';
import type { StartOptions, Where } from './start-options';
import { writePrivate } from './write-private';

const stateRefreshMs = 1_000;

/** `npm start`. Returns the exit code. */
export async function start(options: StartOptions & Where, projectRoot: string, env: Environment): Promise<number> {
  const startedAtMs = Date.now();
  const layout = layoutOf(projectRoot, options.stateDir ?? path.join(projectRoot, '.nightshift'), options.portOffset);
  const { stateDir } = layout;
  refuseSecond(stateDir);
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const say = (line: string): void => standardOutput.write(`${line}\n`);
  const signal = interruption(env.npm_lifecycle_event !== undefined, () => process.exit(130));

  const plan = planOf(options, layout, env);
  const sandbox = await sandboxChoice(options, plan.run !== undefined);
  const logs = new Logs(path.join(stateDir, 'logs'), say);
  const keyFile = keyFileIn(stateDir);
  const freshKey = existsSync(keyFile) ? undefined : newKey();
  if (freshKey) writePrivate(keyFile, `${freshKey}\n`);

  const stack = new Stack({
    layout,
    afterKill: readState(stateDir) !== undefined,
    logs,
    say,
    external: { nats: env.NATS_URL || undefined, database: env.DATABASE_URL || undefined },
    simulator: plan.simulator,
    onServiceExit: (name, killedBy) => say(`${name} ended${killedBy ? ` (${killedBy})` : ''}; starting it again`),
    choices: {
      file: plan.providers.file,
      keyFile,
      allowedRoots: allowedRoots(layout, [...plan.providers.allowedRoots, ...options.allowedRoots]),
      allowUnsandboxed: sandbox.allowUnsandboxed,
      providerKeys: plan.providers.keys,
      outer: env,
    },
  });
  let stateTimer: NodeJS.Timeout | undefined;
  const shutDown = async (): Promise<void> => {
    clearInterval(stateTimer);
    await stack.stop();
    logs.close();
    clearState(stateDir);
  };
  const onAbort = (): void => void stack.stop();
  signal.addEventListener('abort', onAbort);
  try {
    const api = `http://127.0.0.1:${layout.ports.api}`;
    const gateway = `http://127.0.0.1:${layout.ports.gateway}`;
    const keep = (ready: boolean, urls: StackUrls): void =>
      writeState(stateDir, {
        launcher: process.pid,
        startedAtMs,
        ready,
        addresses: { api, nats: urls.nats, gateway, operations: stack.operations() },
        database: urls.database,
        pids: stack.pids(),
      });
    keep(false, { nats: '', database: '' });
    const urls = await stack.start();
    keep(true, urls);
    // A service that was restarted has another process id; the command line asks for it.
    stateTimer = setInterval(() => keep(true, urls), stateRefreshMs);
    say(welcome(layout, Date.now() - startedAtMs, keyFile, freshKey));
    const ok = await work(options, plan, stack, layout, sandbox.allowUnsandboxed, signal).catch((thrown: unknown) => {
      // The platform outlives a sample that went wrong.
      if (options.once || signal.aborted) throw thrown;
      say(`the sample task could not be followed: ${NightshiftError.from(thrown).text}`);
      return false;
    });
    if (signal.aborted) return 130;
    if (options.once) return ok ? 0 : 1;
    say('Nightshift keeps running; Ctrl-C or `npm run stop` ends it.');
    await ended(signal);
    return 0;
  } catch (thrown) {
    if (signal.aborted) return 130;
    throw thrown;
  } finally {
    if (!options.once || signal.aborted) say('stopping…');
    await shutDown();
  }
}

function refuseSecond(stateDir: string): void {
  const running = runningState(stateDir);
  if (!running) return;
  const text = `Nightshift runs already (process ${running.launcher}, ${running.addresses.api}); npm run status shows more`;
  throw new NightshiftError('FAILED_PRECONDITION', text);
}

interface Plan {
  providers: ProviderFile;
  simulator: { config: string; log: string } | undefined;
  /** The run of the sample task, when there is one to do. */
  run: RunFolder | undefined;
}

/** What this start does beside starting: which models there are, and whether the sample runs on them. */
function planOf(options: StartOptions, layout: Layout, env: Environment): Plan {
  const { stateDir } = layout;
  const own = env.NIGHTSHIFT_FILE || path.join(layout.projectRoot, 'nightshift.yaml');
  const plain = providerFileOf({ file: own, model: options.model, stateDir, env });
  const models = options.model ? [options.model] : sampleChain;
  const before = RunFolder.unfinished(stateDir, models);
  const first = RunFolder.all(stateDir).length === 0;
  const wanted = options.sample ?? (!plain.configured && (first || before !== undefined));
  const run = wanted ? (before ?? RunFolder.create(stateDir, models, Date.now())) : undefined;
  if (options.model || (plain.configured && !run)) return { providers: plain, simulator: undefined, run };

  const url = `http://127.0.0.1:${layout.ports.simulator}`;
  const folder = run ?? RunFolder.all(stateDir).at(-1);
  const config = folder?.file('simulator.json') ?? path.join(stateDir, 'simulator.json');
  writeFileSync(config, JSON.stringify(simulatorConfig(), null, 2));
  const extra = { providers: simulatorProviders(url), keys: simulatorKeys(Date.now().toString(36)) };
  return {
    providers: providerFileOf({ file: own, stateDir, env, extra }),
    simulator: { config, log: run?.requestLog ?? path.join(stateDir, 'logs', 'simulator-requests.jsonl') },
    run,
  };
}

/** @throws NightshiftError SANDBOX_UNAVAILABLE where the sample must not run. */
async function sandboxChoice(options: StartOptions, runsSample: boolean): Promise<{ allowUnsandboxed: boolean }> {
  const fault = sandboxFault();
  if (fault === undefined) return { allowUnsandboxed: false };
  if (options.model) {
    throw new NightshiftError('SANDBOX_UNAVAILABLE', `no sandbox works here (${fault}); a real model is not run without one`);
  }
  if (!runsSample || options.allowUnsandboxed) return { allowUnsandboxed: options.allowUnsandboxed };
  if (await mayRunUnsandboxed(fault)) return { allowUnsandboxed: true };
  throw new NightshiftError(
    'SANDBOX_UNAVAILABLE',
    `no sandbox works here (${fault}); --allow-unsandboxed runs the scripted sample without one, --no-sample leaves it out`,
  );
}

function allowedRoots(layout: Layout, more: readonly string[]): string[] {
  return [...new Set([layout.projectRoot, layout.stateDir, homedir(), ...more.map((root) => path.resolve(root))])];
}

function welcome(layout: Layout, tookMs: number, keyFile: string, freshKey: string | undefined): string {
  const api = `http://127.0.0.1:${layout.ports.api}`;
  const metrics = serviceNames.map((name) => `             http://127.0.0.1:${layout.ports.metrics[name]}/metrics  ${name}`);
  return [
    '',
    `Nightshift is ready (${duration(tookMs)})`,
    `  API        ${api}/v1`,
    `  docs       ${api}/docs`,
    `  metrics${metrics.join('\n').slice(9)}`,
    `  key        ${keyFile}`,
    ...(freshKey ? [`  admin key  ${freshKey}  (shown only now; npx nightshift reads it from the file)`] : []),
    `  data       ${layout.stateDir}`,
    '',
  ].join('\n');
}

async function work(
  options: StartOptions,
  plan: Plan,
  stack: Stack,
  layout: Layout,
  allowUnsandboxed: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { run } = plan;
  if (!run) return true;
  const key = (): string => readFileSync(keyFileIn(layout.stateDir), 'utf8').trim();
  const api = new Api({ url: `http://127.0.0.1:${layout.ports.api}`, key });
  return runSample({
    api,
    stack,
    run,
    projectRoot: layout.projectRoot,
    kill: options.kill,
    allowUnsandboxed,
    reportFile: options.report,
    output: standardOutput,
    signal,
  });
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    // Nothing else may be left to keep the process alive when every service has ended for good.
    const alive = setInterval(() => undefined, 60_000);
    signal.addEventListener('abort', () => clearInterval(alive), { once: true });
  });
}
