import type { ServiceOptions } from '@nightshift/bus';
import { createPool, schemaReady } from '@nightshift/db';
import { ApiModule } from './api.module';
import { BootstrapRunner } from './auth/bootstrap.runner';
import { apiSettings, type ApiConfig } from './config';
import { httpAdapter, prepareHttp } from './http/http-app';
import { version } from './version';

/** The service as `main` runs it and as tests start it. */
export function apiService(config: ApiConfig): ServiceOptions {
  const { settings } = config;
  const pool = createPool(settings);
  let bootstrap: BootstrapRunner | undefined;
  return {
    service: 'api',
    module: ApiModule.of(config, pool),
    config: settings,
    settings: apiSettings,
    version,
    ready: [schemaReady(pool), async () => bootstrap?.fault()],
    http: {
      adapter: httpAdapter(config),
      host: settings.API_HOST,
      port: settings.API_PORT,
      prepare: (app) => {
        prepareHttp(app);
        bootstrap = app.get(BootstrapRunner);
      },
    },
  };
}
