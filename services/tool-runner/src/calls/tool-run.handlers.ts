import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { BusContext } from '@nightshift/bus';
import { routes, task, tool } from '@nightshift/contracts';
import { StopTask } from './stop-task';
import { ToolCalls } from './tool-calls';

@Controller()
export class ToolRunHandlers {
  constructor(
    private readonly calls: ToolCalls,
    private readonly stops: StopTask,
  ) {}

  @EventPattern(routes.toolRun.subject)
  run(@Payload() message: tool.Run, @Ctx() context: BusContext): Promise<void> {
    const call = { team: context.team, taskId: message.taskId, callId: message.callId, delivery: context.delivery };
    return this.calls.take(call, context.signal);
  }

  @MessagePattern(routes.taskStop.subject)
  stop(@Payload() message: task.StopRequest, @Ctx() context: BusContext): Promise<MessageInitShape<typeof task.StopReplySchema>> {
    return this.stops.stop(context.team, message.taskId, Date.now());
  }
}
