import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Pool } from '@nightshift/db';
import { AuditStore } from './audit/audit.store';
import { Authenticate } from './auth/authenticate';
import { BootstrapRunner } from './auth/bootstrap.runner';
import { KeysController } from './auth/keys.controller';
import { KeysStore } from './auth/keys.store';
import { ApiConfig } from './config';
import { DeadLettersController } from './dead-letters/dead-letters.controller';
import { DocsController } from './docs/docs.controller';
import { EventsController } from './events/events.controller';
import { EventsHub } from './events/events.hub';
import { ProblemFilter } from './http/problem.filter';
import { ModelsController } from './models/models.controller';
import { ResultsController } from './tasks/results.controller';
import { TaskActionsController } from './tasks/task-actions.controller';
import { TaskCalls } from './tasks/task-calls';
import { TaskReadsController } from './tasks/task-reads.controller';

@Module({})
export class ApiModule implements OnApplicationShutdown {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /** After the last HTTP request: those in flight still read and write. */
  onApplicationShutdown(): Promise<void> {
    return this.pool.end();
  }

  static of(config: ApiConfig, pool: Pool): DynamicModule {
    return {
      module: ApiModule,
      controllers: [
        TaskActionsController,
        TaskReadsController,
        ResultsController,
        EventsController,
        ModelsController,
        DeadLettersController,
        KeysController,
        DocsController,
      ],
      providers: [
        { provide: ApiConfig, useValue: config },
        { provide: Pool, useValue: pool },
        { provide: APP_FILTER, useClass: ProblemFilter },
        KeysStore,
        AuditStore,
        Authenticate,
        BootstrapRunner,
        TaskCalls,
        EventsHub,
      ],
    };
  }
}
