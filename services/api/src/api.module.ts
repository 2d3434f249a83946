import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DatabaseModule } from '@nightshift/db';
import { AuditStore } from './audit/audit.store';
import { Authenticate } from './auth/authenticate';
import { KeysController } from './auth/keys.controller';
import { KeysStore } from './auth/keys.store';
import { ApiConfig } from './config';
import { DeadLettersController } from './dead-letters/dead-letters.controller';
import { DocsController } from './docs/docs.controller';
import { EventsController } from './events/events.controller';
import { EventsHub } from './events/events.hub';
import { ProblemFilter } from './http/problem.filter';
import { ModelsController } from './models/models.controller';
import { TaskActionsController } from './tasks/task-actions.controller';
import { TaskCalls } from './tasks/task-calls';
import { TaskReadsController } from './tasks/task-reads.controller';

@Module({})
export class ApiModule {
  static of(config: ApiConfig): DynamicModule {
    return {
      module: ApiModule,
      imports: [DatabaseModule.forRoot(config.settings)],
      controllers: [
        TaskActionsController,
        TaskReadsController,
        EventsController,
        ModelsController,
        DeadLettersController,
        KeysController,
        DocsController,
      ],
      providers: [
        { provide: ApiConfig, useValue: config },
        { provide: APP_FILTER, useClass: ProblemFilter },
        KeysStore,
        AuditStore,
        Authenticate,
        TaskCalls,
        EventsHub,
      ],
    };
  }
}
