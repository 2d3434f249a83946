import { Inject, Injectable } from '@nestjs/common';
import { PrismaPg } from '@prisma/adapter-pg';
import { Pool } from 'pg';
import type { PrismaClient } from './generated/prisma/client';

/**
 * Prisma over the pool that raw statements use too. The client is made at first use: it costs 75 MB, and services
 * whose statements are all raw never pay it.
 */
@Injectable()
export class Prisma {
  private made: PrismaClient | undefined;

  constructor(@Inject(Pool) private readonly pool: Pool) {}

  get client(): PrismaClient {
    return (this.made ??= this.make());
  }

  private make(): PrismaClient {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded at first use only
    const generated = require('./generated/prisma/client') as typeof import('./generated/prisma/client');
    return new generated.PrismaClient({ adapter: new PrismaPg(this.pool) });
  }
}
