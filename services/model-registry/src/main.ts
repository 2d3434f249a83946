import 'reflect-metadata';
import { runService } from '@nightshift/bus';
import { loadConfig, loadNightshiftFile } from '@nightshift/config';
import { createPool, schemaReady } from '@nightshift/db';
import { settings } from './config';
import { ModelRegistryModule } from './model-registry.module';

void runService(() => {
  const config = loadConfig(settings);
  const file = loadNightshiftFile(config.NIGHTSHIFT_FILE);
  const pool = createPool(config);
  return {
    service: 'model-registry',
    module: ModelRegistryModule.forRoot(config, file, pool),
    config,
    settings,
    ready: [schemaReady(pool)],
  };
});
