import type { MessageInitShape } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { task, tool } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import { EventStore } from '../events/event.store';
import { isOpen } from '../outcomes/batch';
import { resultBounds } from '../steps/context';
import { PreparedTasks } from '../steps/prepared';
import { Wakes } from '../steps/wakes';
import { TaskStore } from '../tasks/task.store';
import { CallStore } from './call.store';
import { FileStore } from './file.store';

type Reply = MessageInitShape<typeof tool.ClaimReplySchema>;

/** Gives a call to the runner that asks, unless it is closed or its task was stopped: the last check before an effect. */
@Injectable()
export class ClaimCall {
  constructor(
    private readonly pool: Pool,
    private readonly tasks: TaskStore,
    private readonly calls: CallStore,
    private readonly files: FileStore,
    private readonly prepared: PreparedTasks,
    private readonly events: EventStore,
    private readonly wakes: Wakes,
  ) {}

  async claim(team: string, request: tool.ClaimRequest): Promise<Reply> {
    const call = await this.calls.find(team, request.taskId, request.callId);
    if (!call || !isOpen(call)) return { granted: false, reason: 'closed' };
    const granted = await transaction(this.pool, async (client) => {
      // Under the row lock: a cancel that commits first is seen, one that comes later stops the runner by its signal.
      const row = await this.tasks.lock(client, team, request.taskId);
      if (!row || row.state === task.TaskState.CANCELLING || row.state === task.TaskState.CANCELLED) return undefined;
      if (!(await this.calls.start(client, team, row.id, call.callId, request.runner))) return undefined;
      if (call.state === 'started') return row;
      const data = {
        callId: call.callId,
        tool: call.tool,
        runner: request.runner,
        arguments: call.argumentsJson.slice(0, 2_000),
      };
      return { ...row, lastEventSeq: await this.events.append(row, [{ kind: 'tool_started', data }], client) };
    });
    if (!granted) return { granted: false, reason: 'cancelled' };
    this.wakes.changed(granted);
    const [{ details }, seen] = await Promise.all([this.prepared.of(granted), this.files.seen(team, granted.id)]);
    const bounds = resultBounds(granted);
    return {
      granted: true,
      reason: 'granted',
      tool: call.tool,
      argumentsJson: call.argumentsJson,
      workspaceId: details.workspace?.id ?? '',
      spillChars: bounds.spill,
      readChars: bounds.read,
      policy: {
        ...details.options.tools,
        allowedHosts: [...details.options.tools.allowedHosts],
        environmentAllow: [...details.options.tools.environmentAllow],
      },
      seen: [...seen],
      generation: granted.generation,
      rootId: granted.rootId,
    };
  }
}
