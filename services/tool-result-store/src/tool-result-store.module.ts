import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { ConfigOf } from '@nightshift/config';
import { DatabaseModule, Pool } from '@nightshift/db';
import type { settings } from './config';
import { RestoreHandlers } from './restore/restore.handlers';
import { ResultHandlers } from './results/result.handlers';
import { RESULT_MAX_BYTES, ResultService } from './results/result.service';
import { ResultStore } from './results/result.store';
import { COLLECTOR_SETTINGS, Collector } from './retention/collector';
import type { CollectorSettings } from './retention/collector';
import { RetentionHandlers } from './retention/retention.handlers';
import { RetentionStore } from './retention/retention.store';

@Module({})
export class ToolResultStoreModule {
  static forRoot(config: ConfigOf<typeof settings>, pool: Pool): DynamicModule {
    const collector: CollectorSettings = {
      everyMs: config.COLLECT_EVERY_MS,
      ageMs: config.RETENTION_AGE_MS,
      bytesPerTeam: config.RETENTION_BYTES_PER_TEAM,
    };
    return {
      module: ToolResultStoreModule,
      imports: [DatabaseModule.forRoot(pool)],
      controllers: [ResultHandlers, RestoreHandlers, RetentionHandlers],
      providers: [
        ResultStore,
        ResultService,
        RetentionStore,
        Collector,
        { provide: RESULT_MAX_BYTES, useValue: config.RESULT_MAX_BYTES },
        { provide: COLLECTOR_SETTINGS, useValue: collector },
      ],
    };
  }
}
