import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { Metrics } from '@nightshift/metrics';
import { createPool } from './pool';
import type { PoolConfig } from './pool';
import { watchPool } from './pool-metrics';
import { Prisma } from './prisma';

/** Provides `Pool` and `Prisma` everywhere; ends the pool after everything else has shut down. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /** @param config of a pool to be made, or the pool that the service's readiness check uses too */
  static forRoot(config: PoolConfig | Pool): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      providers: [
        {
          provide: Pool,
          inject: [{ token: Metrics, optional: true }],
          useFactory: (metrics: Metrics | undefined): Pool => {
            const pool = config instanceof Pool ? config : createPool(config);
            if (metrics) watchPool(pool, metrics);
            return pool;
          },
        },
        Prisma,
      ],
      exports: [Pool, Prisma],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.pool.ended) await this.pool.end();
  }
}
