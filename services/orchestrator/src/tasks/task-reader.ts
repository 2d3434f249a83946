import type { MessageInitShape } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { NightshiftError, task } from '@nightshift/contracts';
import { isUuid } from '../outcomes/calls';
import { PreparedTasks } from '../steps/prepared';
import { presentTask } from './present';
import type { TaskRow } from './task-row';
import { TaskStore } from './task.store';

type Presented = MessageInitShape<typeof task.TaskSchema>;

/** Reads tasks for other services. */
@Injectable()
export class TaskReader {
  constructor(
    private readonly tasks: TaskStore,
    private readonly prepared: PreparedTasks,
  ) {}

  /** @throws NightshiftError NOT_FOUND, also for the task of another team */
  async get(team: string, id: string): Promise<Presented> {
    return this.present(await this.tasks.get(team, id));
  }

  async list(team: string, request: task.ListRequest): Promise<{ tasks: Presented[]; more: boolean }> {
    const faults = (['beforeId', 'rootId'] as const).filter((name) => request[name] !== '' && !isUuid(request[name]));
    if (faults.length > 0) {
      throw new NightshiftError('INVALID_ARGUMENT', 'tasks cannot be listed as asked', {
        faults: faults.map((name) => `${name}: expected the id of a task`),
      });
    }
    const limit = Math.min(Math.max(request.limit || 50, 1), 200);
    const rows = await this.tasks.list(team, {
      limit: limit + 1,
      beforeId: request.beforeId || undefined,
      state: request.state || undefined,
      rootId: request.rootId || undefined,
    });
    const tasks = await Promise.all(rows.slice(0, limit).map((row) => this.present(row)));
    return { tasks, more: rows.length > limit };
  }

  async present(row: TaskRow): Promise<Presented> {
    return presentTask(row, (await this.prepared.of(row)).details);
  }
}
