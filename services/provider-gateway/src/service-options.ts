import type { ServiceOptions } from '@nightshift/bus';
import { loadConfig, loadNightshiftFile, secretValues, type Environment } from '@nightshift/config';
import { NightshiftError } from '@nightshift/contracts';
import { createPool, schemaReady } from '@nightshift/db';
import { createLogger } from '@nightshift/metrics';
import { WindowReader } from '@nightshift/windows';
import { providerKeys, settings } from './config';
import { GatewayModule } from './gateway.module';
import { quickCommits } from './ledger/call.store';
import { ProviderCatalog } from './providers/catalog';
import { vendors } from './vendors/rows';

/**
 * Everything the process is built from.
 * @param write takes the log lines; standard output unless given
 * @throws NightshiftError INVALID_ARGUMENT with the faults of settings, file and keys together
 */
export function serviceOptions(environment?: Environment, write?: (line: string) => void): ServiceOptions {
  const faults: string[] = [];
  const gather = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      const fault = NightshiftError.from(error);
      faults.push(...(fault.faults.length > 0 ? fault.faults : [fault.text]));
      return undefined;
    }
  };
  const config = gather(() => (environment ? loadConfig(settings, environment) : loadConfig(settings)));
  const path = config
    ? config.NIGHTSHIFT_FILE
    : gather(() => loadConfig({ NIGHTSHIFT_FILE: settings.NIGHTSHIFT_FILE }, environment).NIGHTSHIFT_FILE);
  const file = gather(() => loadNightshiftFile(path));
  const usual = Object.values(vendors).flatMap((vendor) => (vendor.keyEnv ? [vendor.keyEnv] : []));
  const catalog = file && gather(() => ProviderCatalog.from(file, providerKeys(file, usual, environment)));
  if (!config || !file || !catalog || faults.length > 0) {
    throw new NightshiftError('INVALID_ARGUMENT', `the gateway cannot start\n  ${faults.join('\n  ')}`, { faults });
  }
  const pool = createPool(config);
  // One batch of claims is under way at a time.
  const quickPool = createPool({ DATABASE_URL: quickCommits(config.DATABASE_URL), DATABASE_POOL_SIZE: 2 });
  const windows = new WindowReader();
  const logger = createLogger({
    service: 'provider-gateway',
    level: config.LOG_LEVEL,
    instance: config.INSTANCE_ID,
    secrets: [...secretValues(settings, config), ...catalog.secrets],
    ...(write ? { write } : {}),
  });
  return {
    service: 'provider-gateway',
    module: GatewayModule.forRoot({ config, file, catalog, pool, quickPool, windows }),
    config,
    settings,
    logger,
    ready: [schemaReady(pool), () => windows.ready()],
  };
}
