import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { createPool } from './pool';
import type { PoolConfig } from './pool';
import { Prisma } from './prisma';

/** Provides `Pool` and `Prisma` everywhere; ends the pool after everything else has shut down. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  static forRoot(config: PoolConfig): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      providers: [{ provide: Pool, useFactory: () => createPool(config) }, Prisma],
      exports: [Pool, Prisma],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.pool.ended) await this.pool.end();
  }
}
