import { Controller, Inject } from '@nestjs/common';
import { NightshiftError, routes, task } from '@nightshift/contracts';
import type { Caller } from '../auth/keys';
import { From, Input, Serves, type InputOf } from '../http/endpoint';
import { present, type Json } from '../http/present';
import { TaskCalls, taskId } from './task-calls';
import { taskReadEndpoints as endpoints } from './tasks.endpoints';
import type { taskStates } from './tasks.schemas';

type Shown = { [key: string]: Json };

const stateOf: Record<(typeof taskStates)[number], task.TaskState> = {
  running: task.TaskState.RUNNING,
  compacting: task.TaskState.COMPACTING,
  waiting: task.TaskState.WAITING,
  paused: task.TaskState.PAUSED,
  cancelling: task.TaskState.CANCELLING,
  completed: task.TaskState.COMPLETED,
  failed: task.TaskState.FAILED,
  cancelled: task.TaskState.CANCELLED,
};

/** A reply of entries, with its envelope, must stay below the payload limit of the bus. */
const maxEntryBytes = 4 * 1024 * 1024;

/** Everything that only reads a task. */
@Controller()
export class TaskReadsController {
  constructor(@Inject(TaskCalls) private readonly calls: TaskCalls) {}

  @Serves(endpoints.list)
  list(@Input(endpoints.list) { query }: InputOf<typeof endpoints.list>, @From() from: Caller): Promise<Shown> {
    const state = query.state ? stateOf[query.state] : task.TaskState.UNSPECIFIED;
    const init = { limit: query.limit, beforeId: query.before ?? '', rootId: query.root ?? '', state };
    return this.calls.show(routes.taskList, from, init);
  }

  @Serves(endpoints.get)
  async get(@Input(endpoints.get) { params }: InputOf<typeof endpoints.get>, @From() from: Caller): Promise<Shown> {
    const reply = await this.calls.ask(routes.taskGet, from, { taskId: taskId(params.id) });
    if (!reply.task) throw new NightshiftError('NOT_FOUND', `there is no task ${params.id}`);
    return present(task.TaskSchema, reply.task);
  }

  @Serves(endpoints.entries)
  entries(@Input(endpoints.entries) { params, query }: InputOf<typeof endpoints.entries>, @From() from: Caller): Promise<Shown> {
    const init = { taskId: taskId(params.id), afterSeq: query.after, limit: query.limit, maxBytes: maxEntryBytes };
    return this.calls.show(routes.taskEntries, from, init);
  }

  @Serves(endpoints.toolCalls)
  toolCalls(
    @Input(endpoints.toolCalls) { params, query }: InputOf<typeof endpoints.toolCalls>,
    @From() from: Caller,
  ): Promise<Shown> {
    const init = { taskId: taskId(params.id), afterEntrySeq: query.after, limit: query.limit };
    return this.calls.show(routes.taskToolCalls, from, init);
  }

  @Serves(endpoints.generations)
  generations(
    @Input(endpoints.generations) { params }: InputOf<typeof endpoints.generations>,
    @From() from: Caller,
  ): Promise<Shown> {
    return this.calls.show(routes.taskGenerations, from, { taskId: taskId(params.id) });
  }

  @Serves(endpoints.view)
  view(@Input(endpoints.view) { params, query }: InputOf<typeof endpoints.view>, @From() from: Caller): Promise<Shown> {
    const { generation } = query;
    const init = { taskId: taskId(params.id), generation: generation ?? 0, current: generation === undefined };
    return this.calls.show(routes.taskView, from, init);
  }

  @Serves(endpoints.diff)
  diff(@Input(endpoints.diff) { params }: InputOf<typeof endpoints.diff>, @From() from: Caller): Promise<Shown> {
    return this.calls.show(routes.taskDiff, from, { taskId: taskId(params.id) });
  }

  @Serves(endpoints.attempts)
  async attempts(
    @Input(endpoints.attempts) { params }: InputOf<typeof endpoints.attempts>,
    @From() from: Caller,
  ): Promise<Shown> {
    const id = taskId(params.id);
    // The gateway answers an empty list for a task it never heard of; whether there is one, the orchestrator knows.
    await this.calls.ask(routes.taskGet, from, { taskId: id });
    return this.calls.show(routes.llmAttempts, from, { taskId: id, limit: 1000 });
  }
}
