import { Controller } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { BusContext } from '@nightshift/bus';
import { llm, routes } from '@nightshift/contracts';
import { CallStore } from '../ledger/call.store';
import { CallDesk } from './call-desk';

@Controller()
export class LlmHandlers {
  constructor(
    private readonly desk: CallDesk,
    private readonly store: CallStore,
  ) {}

  @MessagePattern(routes.llmComplete.subject)
  complete(@Payload() request: llm.CompleteRequest, @Ctx() context: BusContext): Promise<llm.CompleteReply> {
    return this.desk.complete(request, context);
  }

  @MessagePattern(routes.llmAttempts.subject)
  async attempts(
    @Payload() request: llm.AttemptsRequest,
    @Ctx() context: BusContext,
  ): Promise<MessageInitShape<typeof llm.AttemptsReplySchema>> {
    return { attempts: await this.store.attempts(context.team, request.taskId, Math.min(request.limit || 100, 1_000)) };
  }
}
