import { Controller, Inject } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { BusContext, SERVICE_CONFIG } from '@nightshift/bus';
import { fromMs, routes, task } from '@nightshift/contracts';
import { RunningCall } from '../calls/call-desk';
import { StoppedTasks } from './stopped-tasks';

/** A stop is answered within the second that its caller waits, whether or not every socket has told its end by then. */
const patienceMs = 700;

@Controller()
export class StopHandlers {
  constructor(
    private readonly stops: StoppedTasks,
    @Inject(SERVICE_CONFIG) private readonly config: { INSTANCE_ID: string },
  ) {}

  @MessagePattern(routes.taskStop.subject)
  async stop(
    @Payload() request: task.StopRequest,
    @Ctx() context: BusContext,
  ): Promise<MessageInitShape<typeof task.StopReplySchema>> {
    const calls = this.stops.stop(context.team, request.taskId).filter((handle) => handle instanceof RunningCall);
    const patience = new Promise<void>((resolve) => setTimeout(resolve, patienceMs).unref());
    await Promise.race([Promise.all(calls.map((call) => call.settled())), patience]);
    return {
      party: 'provider-gateway',
      instance: this.config.INSTANCE_ID,
      idle: this.stops.isIdle(context.team, request.taskId),
      stopped: calls.length,
      lastProviderByteMs: fromMs(Math.max(0, ...calls.map((call) => call.ended.lastByteAt))),
      upstreamClosedMs: fromMs(Math.max(0, ...calls.map((call) => call.ended.closedAt))),
      tokensBilled: fromMs(calls.reduce((sum, call) => sum + call.ended.tokensBilled, 0)),
    };
  }
}
