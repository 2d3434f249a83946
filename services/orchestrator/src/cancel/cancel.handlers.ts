import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { routes, task } from '@nightshift/contracts';
import { TaskReader } from '../tasks/task-reader';
import { TaskControl } from './task-control';

@Controller()
export class CancelHandlers {
  constructor(
    private readonly control: TaskControl,
    private readonly reader: TaskReader,
  ) {}

  @MessagePattern(routes.taskCancel.subject)
  async cancel(
    @Payload() request: task.CancelRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.CancelReplySchema>> {
    return { task: await this.reader.present(await this.control.cancel(ctx.team, request.taskId, request.reason)) };
  }

  @MessagePattern(routes.taskPause.subject)
  async pause(
    @Payload() request: task.PauseRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.PauseReplySchema>> {
    return { task: await this.reader.present(await this.control.pause(ctx.team, request.taskId)) };
  }

  @MessagePattern(routes.taskResume.subject)
  async resume(
    @Payload() request: task.ResumeRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof task.ResumeReplySchema>> {
    return { task: await this.reader.present(await this.control.resume(ctx.team, request.taskId)) };
  }
}
