import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { routes, task } from '@nightshift/contracts';
import { StepRunner } from './step-runner';

@Controller()
export class StepHandlers {
  constructor(private readonly runner: StepRunner) {}

  @EventPattern(routes.taskStep.subject)
  async step(@Payload() step: task.Step, @Ctx() ctx: BusContext): Promise<void> {
    await this.runner.run(ctx.team, step.taskId, step.epoch, ctx.signal);
  }
}
