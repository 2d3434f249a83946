import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { NightshiftFile } from '@nightshift/config';
import { DatabaseModule, Pool } from '@nightshift/db';
import { WindowsModule } from '@nightshift/windows';
import type { WindowReader } from '@nightshift/windows';
import { CancelHandlers } from './cancel/cancel.handlers';
import { StopTask } from './cancel/stop-task';
import { TaskControl } from './cancel/task-control';
import { ClaimPass } from './compaction/claim-pass';
import { CompactionHandlers } from './compaction/compaction.handlers';
import { FinishPass } from './compaction/finish-pass';
import { Generations } from './compaction/generations';
import { Handles } from './compaction/handles';
import { JobSources } from './compaction/job-sources';
import { PassControl } from './compaction/pass-control';
import { PassStore } from './compaction/pass.store';
import { DeadLetterHandlers } from './deadletters/deadletter.handlers';
import { DeadLetterStore } from './deadletters/deadletter.store';
import { Unpark } from './deadletters/unpark';
import { EventStore } from './events/event.store';
import { Inbox } from './inbox/inbox';
import { LostWorkspaces } from './runners/lost-workspaces';
import { OpenWorkspace } from './runners/open-workspace';
import { RunnerHandlers } from './runners/runner.handlers';
import { RunnerStore } from './runners/runner.store';
import { BatchStep } from './steps/batch-step';
import { ModelCall } from './steps/model-call';
import { PreparedTasks } from './steps/prepared';
import { StepHandlers } from './steps/step.handlers';
import { StepRunner } from './steps/step-runner';
import { Wakes } from './steps/wakes';
import { Gauges } from './sweeper/gauges';
import { Heartbeat } from './sweeper/heartbeat';
import { Sweeper } from './sweeper/sweeper';
import { Committed } from './tasks/committed';
import { CreateTask } from './tasks/create-task';
import { DefaultChain } from './tasks/default-chain';
import { EntryStore } from './tasks/entry.store';
import { RecordStore } from './tasks/record.store';
import { TaskHandlers } from './tasks/task.handlers';
import { TaskReader } from './tasks/task-reader';
import { TaskStore } from './tasks/task.store';
import { WORKER } from './tasks/worker';
import type { Worker } from './tasks/worker';
import { CallStore } from './tools/call.store';
import { ClaimCall } from './tools/claim-call';
import { FileStore } from './tools/file.store';
import { FinishCall } from './tools/finish-call';
import { ParkedCalls } from './tools/parked-calls';
import { SourceNow } from './tools/source-now';
import { ToolHandlers } from './tools/tool.handlers';

export interface OrchestratorParts {
  readonly pool: Pool;
  readonly windows: WindowReader;
  readonly file: NightshiftFile;
  readonly worker: Worker;
}

@Module({})
export class OrchestratorModule {
  static forRoot({ pool, windows, file, worker }: OrchestratorParts): DynamicModule {
    return {
      module: OrchestratorModule,
      imports: [DatabaseModule.forRoot(pool), WindowsModule.forRoot(windows)],
      controllers: [
        TaskHandlers,
        StepHandlers,
        ToolHandlers,
        CompactionHandlers,
        CancelHandlers,
        RunnerHandlers,
        DeadLetterHandlers,
      ],
      providers: [
        { provide: WORKER, useValue: worker },
        { provide: DefaultChain, useValue: new DefaultChain(file) },
        // storage
        TaskStore,
        RecordStore,
        EntryStore,
        EventStore,
        CallStore,
        FileStore,
        PassStore,
        RunnerStore,
        DeadLetterStore,
        // the loop
        PreparedTasks,
        Wakes,
        Committed,
        ModelCall,
        BatchStep,
        Inbox,
        StepRunner,
        CreateTask,
        TaskReader,
        // tools and workspaces
        ClaimCall,
        FinishCall,
        ParkedCalls,
        SourceNow,
        OpenWorkspace,
        LostWorkspaces,
        // compaction
        Handles,
        JobSources,
        ClaimPass,
        FinishPass,
        PassControl,
        Generations,
        // control
        StopTask,
        TaskControl,
        Unpark,
        // always running
        Heartbeat,
        Sweeper,
        Gauges,
      ],
    };
  }
}
