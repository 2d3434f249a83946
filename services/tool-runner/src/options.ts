import type { ServiceOptions } from '@nightshift/bus';
import { type RunnerConfig, runnerSettings } from './config';
import { Lease } from './presence/lease';
import { ToolRunnerModule } from './tool-runner.module';

/** How the service is started; the same for the process and for tests. `Presence.start` follows once it listens. */
export function runnerOptions(config: RunnerConfig): ServiceOptions {
  const lease = new Lease(config.LEASE_LOST_AFTER_MS);
  return {
    service: 'tool-runner',
    module: ToolRunnerModule.forRoot(config, lease),
    config,
    settings: runnerSettings,
    keys: { runner: config.RUNNER_ID },
    concurrency: { toolRun: config.TOOL_SLOTS },
    ready: [async () => lease.fault(Date.now())],
  };
}
