import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { compaction, routes } from '@nightshift/contracts';
import { RunPass } from './run-pass';

@Controller()
export class PassHandlers {
  constructor(private readonly passes: RunPass) {}

  @EventPattern(routes.compactionRun.subject)
  run(@Payload() request: compaction.RunRequest, @Ctx() ctx: BusContext): Promise<void> {
    return this.passes.run(request, ctx);
  }
}
