import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { routes, toMs } from '@nightshift/contracts';
import type { toolresult } from '@nightshift/contracts';
import { RetentionStore } from './retention.store';

@Controller()
export class RetentionHandlers {
  constructor(@Inject(RetentionStore) private readonly retention: RetentionStore) {}

  @EventPattern(routes.toolresultRootEnded.subject)
  async rootEnded(@Payload() message: toolresult.RootEnded, @Ctx() ctx: BusContext): Promise<void> {
    await this.retention.rootEnded(ctx.team, message.rootId, toMs(message.atMs));
  }
}
