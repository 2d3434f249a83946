import { Module, type DynamicModule } from '@nestjs/common';
import { Logger, Metrics } from '@nightshift/metrics';
import { Bus } from '../bus';

/** Injection token of the service's configuration. */
export const SERVICE_CONFIG = Symbol('nightshift service config');

/** Gives every module `Bus`, `Metrics`, `Logger` and `SERVICE_CONFIG`. */
@Module({})
export class BusModule {
  static forRoot(bus: Bus, metrics: Metrics, logger: Logger, config: object): DynamicModule {
    const providers = [
      { provide: Bus, useValue: bus },
      { provide: Metrics, useValue: metrics },
      { provide: Logger, useValue: logger },
      { provide: SERVICE_CONFIG, useValue: config },
    ];
    return { module: BusModule, global: true, providers, exports: providers.map((one) => one.provide) };
  }
}
