import type { ServiceOptions } from '@nightshift/bus';
import { loadConfig, loadNightshiftFile } from '@nightshift/config';
import type { Environment } from '@nightshift/config';
import { createPool, schemaReady } from '@nightshift/db';
import { WindowReader } from '@nightshift/windows';
import { v7 } from 'uuid';
import { orchestratorSettings } from './config';
import { OrchestratorModule } from './orchestrator.module';
import { heartbeatFault } from './tasks/worker';

/**
 * Everything the process is built from.
 * @throws NightshiftError INVALID_ARGUMENT with the faults of settings and file
 */
export function serviceOptions(environment?: Environment): ServiceOptions {
  const config = environment ? loadConfig(orchestratorSettings, environment) : loadConfig(orchestratorSettings);
  const file = loadNightshiftFile(config.NIGHTSHIFT_FILE);
  const pool = createPool(config);
  const windows = new WindowReader();
  const worker = { owner: `${config.INSTANCE_ID}:${v7()}`, leaseMs: config.LEASE_MS, stepSlots: config.STEP_SLOTS, beatenAt: 0 };
  return {
    service: 'orchestrator',
    module: OrchestratorModule.forRoot({ pool, windows, file, worker }),
    config,
    settings: orchestratorSettings,
    concurrency: { taskStep: config.STEP_SLOTS, toolFinished: 32, compactionFinished: 8 },
    ready: [schemaReady(pool), () => windows.ready(), () => Promise.resolve(heartbeatFault(worker, Date.now()))],
  };
}
