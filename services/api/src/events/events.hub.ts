import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Bus } from '@nightshift/bus';
import { llm, routes, tool } from '@nightshift/contracts';
import { present, type Json } from '../http/present';

/** One subscription of this process to "a task has changed", handed on to the readers of each task. */
@Injectable()
export class EventsHub implements OnModuleInit, BeforeApplicationShutdown {
  private readonly readers = new Map<string, Set<(lastSeq: number) => void>>();
  private readonly closing = new AbortController();
  private stop: () => void = () => undefined;

  constructor(@Inject(Bus) private readonly bus: Bus) {}

  onModuleInit(): void {
    this.stop = this.bus.subscribeEvents(routes.taskChanged, (changed) => {
      for (const wake of this.readers.get(changed.taskId) ?? []) wake(changed.lastEventSeq);
    });
  }

  /** Fires when this process is about to end: readers are told to come back. */
  get shutdown(): AbortSignal {
    return this.closing.signal;
  }

  onChanged(taskId: string, wake: (lastSeq: number) => void): () => void {
    const readers = this.readers.get(taskId) ?? new Set();
    this.readers.set(taskId, readers.add(wake));
    return () => {
      readers.delete(wake);
      if (readers.size === 0) this.readers.delete(taskId);
    };
  }

  /** Text of the model (`delta`) and of running commands (`tool_output`) on its way. */
  onLive(team: string, task: string, show: (type: string, data: Json) => void): () => void {
    const stops = [
      this.bus.subscribeLive(routes.liveDelta, { team, task }, (delta) => show('delta', present(llm.DeltaSchema, delta))),
      this.bus.subscribeLive(routes.toolOutput, { team, task }, (output) =>
        show('tool_output', present(tool.OutputSchema, output)),
      ),
    ];
    return () => stops.forEach((stop) => stop());
  }

  beforeApplicationShutdown(): void {
    this.closing.abort();
    this.stop();
  }
}
