import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { routes, tool } from '@nightshift/contracts';
import { ClaimCall } from './claim-call';
import { FinishCall } from './finish-call';

@Controller()
export class ToolHandlers {
  constructor(
    private readonly claims: ClaimCall,
    private readonly finishes: FinishCall,
  ) {}

  @MessagePattern(routes.toolClaim.subject)
  claim(@Payload() request: tool.ClaimRequest, @Ctx() ctx: BusContext): Promise<MessageInitShape<typeof tool.ClaimReplySchema>> {
    return this.claims.claim(ctx.team, request);
  }

  @EventPattern(routes.toolFinished.subject)
  async finished(@Payload() finished: tool.Finished, @Ctx() ctx: BusContext): Promise<void> {
    await this.finishes.finish(ctx.team, finished);
  }
}
