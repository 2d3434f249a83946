import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { WindowsModule } from '@nightshift/windows';
import type { WindowReader } from '@nightshift/windows';
import { ModelCalls } from './passes/model-calls';
import { PassHandlers } from './passes/pass.handlers';
import { PASS_SETTINGS, RunPass } from './passes/run-pass';
import type { PassSettings } from './passes/run-pass';
import { Transcripts } from './passes/transcripts';
import { Windows } from './passes/windows';
import { StopHandlers } from './stop/stop.handlers';
import { StoppedTasks } from './stop/stopped-tasks';

@Module({})
export class CompactorModule {
  static forRoot(passSettings: PassSettings, windows: WindowReader): DynamicModule {
    return {
      module: CompactorModule,
      imports: [WindowsModule.forRoot(windows)],
      controllers: [PassHandlers, StopHandlers],
      providers: [
        RunPass,
        Transcripts,
        Windows,
        ModelCalls,
        { provide: StoppedTasks, useFactory: () => new StoppedTasks(Date.now) },
        { provide: PASS_SETTINGS, useValue: passSettings },
      ],
    };
  }
}
