import { type DynamicModule, Module } from '@nestjs/common';
import { Logger, Metrics } from '@nightshift/metrics';
import { StopTask } from './calls/stop-task';
import { ToolCalls } from './calls/tool-calls';
import { ToolRunHandlers } from './calls/tool-run.handlers';
import type { RunnerConfig } from './config';
import type { Lease } from './presence/lease';
import { Presence } from './presence/presence';
import { Runner } from './runner';
import { CloseWorkspaces } from './workspaces/close-workspaces';
import { WorkspaceHandlers } from './workspaces/workspace.handlers';

@Module({})
export class ToolRunnerModule {
  static forRoot(config: RunnerConfig, lease: Lease): DynamicModule {
    return {
      module: ToolRunnerModule,
      controllers: [ToolRunHandlers, WorkspaceHandlers],
      providers: [
        {
          provide: Runner,
          inject: [Metrics, Logger],
          useFactory: (metrics: Metrics, logger: Logger) => Runner.create(config, metrics, logger, lease),
        },
        CloseWorkspaces,
        Presence,
        StopTask,
        ToolCalls,
      ],
    };
  }
}
