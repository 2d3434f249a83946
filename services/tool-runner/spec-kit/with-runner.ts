import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, type RunningService } from '@nightshift/bus';
import { loadConfig } from '@nightshift/config';
import { eventually, withNats, type TestNats } from '@nightshift/testing';
import { runnerSettings } from '../src/config';
import { runnerOptions } from '../src/options';
import { Presence } from '../src/presence/presence';
import { Runner } from '../src/runner';
import { OtherSide } from './other-side';

export interface TestRunner {
  readonly nats: TestNats;
  readonly side: OtherSide;
  /** A directory that is an allowed root; workspaces are made from what is in it. */
  readonly sources: string;
  readonly workspaceRoot: string;
  readonly runner: Runner;
  /** Stops the service in this process (if it runs) and starts it again on the same disk. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  environment(): Record<string, string>;
}

/** Gives a spec file a runner on a real bus, a directory of sources, and the other side. */
export function withRunner(settings: Record<string, string> = {}, { started = true } = {}): TestRunner {
  const nats = withNats();
  const side = new OtherSide('runner-1');
  let folder = '';
  let service: RunningService | undefined;
  const environment = (): Record<string, string> => ({
    NATS_URL: nats.url,
    RUNNER_ID: side.runner,
    WORKSPACE_ROOT: join(folder, 'workspaces'),
    ALLOWED_ROOTS: join(folder, 'sources'),
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
    ACK_WAIT_MS: '1000',
    SHUTDOWN_GRACE_MS: '2000',
    PATH: process.env.PATH ?? '',
    ...settings,
  });
  const start = async (): Promise<void> => {
    const { METRICS_PORT, ...rest } = environment();
    const config = { ...loadConfig(runnerSettings, rest), METRICS_PORT: Number(METRICS_PORT) };
    service = await startService(runnerOptions(config));
    service.get(Presence).start();
    const { lease } = service.get(Runner);
    await eventually(() => lease.held(Date.now()));
  };
  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-runner-')));
    mkdirSync(join(folder, 'sources'));
    await side.start(nats.url);
    if (started) await start();
  });
  afterAll(async () => {
    await service?.stop();
    await side.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    nats,
    side,
    environment,
    get sources() {
      return join(folder, 'sources');
    },
    get workspaceRoot() {
      return join(folder, 'workspaces');
    },
    get runner() {
      if (!service) throw new Error('the runner is not started');
      return service.get(Runner);
    },
    async restart() {
      await service?.stop();
      await start();
    },
    async stop() {
      await service?.stop();
      service = undefined;
    },
  };
}
