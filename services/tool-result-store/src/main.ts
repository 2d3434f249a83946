import 'reflect-metadata';
import { runService } from '@nightshift/bus';
import { loadConfig } from '@nightshift/config';
import { createPool, schemaReady } from '@nightshift/db';
import { settings } from './config';
import { ToolResultStoreModule } from './tool-result-store.module';

void runService(() => {
  const config = loadConfig(settings);
  const pool = createPool(config);
  return {
    service: 'tool-result-store',
    module: ToolResultStoreModule.forRoot(config, pool),
    config,
    settings,
    ready: [schemaReady(pool)],
  };
});
