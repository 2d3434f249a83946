import type { MessageInitShape } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { task, tool } from '@nightshift/contracts';
import { resultBounds } from '../steps/context';
import { PreparedTasks } from '../steps/prepared';
import { Wakes } from '../steps/wakes';
import { TaskStore } from '../tasks/task.store';
import { CallStore } from './call.store';

type Reply = MessageInitShape<typeof tool.ClaimReplySchema>;

/** Gives a call to the runner that asks, unless it is closed or its task was stopped: the last check before an effect. */
@Injectable()
export class ClaimCall {
  constructor(
    private readonly tasks: TaskStore,
    private readonly calls: CallStore,
    private readonly prepared: PreparedTasks,
    private readonly wakes: Wakes,
  ) {}

  async claim(team: string, request: tool.ClaimRequest): Promise<Reply> {
    const claimed = await this.calls.claim(team, request.taskId, request.callId, request.runner);
    if (!claimed) return this.refusal(team, request);
    const { row } = claimed;
    this.wakes.changed(row);
    const { details } = await this.prepared.of(row);
    const bounds = resultBounds(row);
    const { tools } = details.options;
    return {
      granted: true,
      reason: 'granted',
      tool: claimed.tool,
      argumentsJson: claimed.argumentsJson,
      workspaceId: details.workspace?.id ?? '',
      spillChars: bounds.spill,
      readChars: bounds.read,
      policy: { ...tools, allowedHosts: [...tools.allowedHosts], environmentAllow: [...tools.environmentAllow] },
      seen: [...claimed.seen],
      generation: row.generation,
      rootId: row.rootId,
    };
  }

  private async refusal(team: string, request: tool.ClaimRequest): Promise<Reply> {
    const row = await this.tasks.find(team, request.taskId);
    const stopped = row?.state === task.TaskState.CANCELLING || row?.state === task.TaskState.CANCELLED;
    return { granted: false, reason: stopped ? 'cancelled' : 'closed' };
  }
}
