import type { ServiceOptions } from '@nightshift/bus';
import { loadNightshiftFile } from '@nightshift/config';
import { WindowReader } from '@nightshift/windows';
import { CompactorModule } from './compactor.module';
import { settings } from './config';
import type { CompactorConfig } from './config';

/** How the service runs: as a process, and in this process under test. */
export function compactorOptions(config: CompactorConfig): ServiceOptions {
  const onDevice = loadNightshiftFile(config.NIGHTSHIFT_FILE).on_device;
  const windows = new WindowReader();
  return {
    service: 'compactor',
    module: CompactorModule.forRoot({ budgetMs: config.PASS_BUDGET_MS, worker: config.INSTANCE_ID, onDevice }, windows),
    config,
    settings,
    concurrency: { compactionRun: config.COMPACTION_SLOTS },
    ready: [() => windows.ready()],
  };
}
