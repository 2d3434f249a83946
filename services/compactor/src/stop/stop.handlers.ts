import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller, Inject } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext, SERVICE_CONFIG } from '@nightshift/bus';
import { routes, task } from '@nightshift/contracts';
import { StoppedTasks } from './stopped-tasks';

@Controller()
export class StopHandlers {
  constructor(
    private readonly stops: StoppedTasks,
    @Inject(SERVICE_CONFIG) private readonly config: { INSTANCE_ID: string },
  ) {}

  @MessagePattern(routes.taskStop.subject)
  stop(@Payload() request: task.StopRequest, @Ctx() ctx: BusContext): Promise<MessageInitShape<typeof task.StopReplySchema>> {
    const stopped = this.stops.stop(ctx.team, request.taskId);
    const idle = this.stops.isIdle(ctx.team, request.taskId);
    return Promise.resolve({ party: 'compactor', instance: this.config.INSTANCE_ID, idle, stopped });
  }
}
