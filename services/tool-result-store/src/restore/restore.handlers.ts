import { Controller, Inject } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { NightshiftError, routes } from '@nightshift/contracts';
import type { toolresult } from '@nightshift/contracts';
import { Metrics } from '@nightshift/metrics';
import { ResultService } from '../results/result.service';
import { restore } from './restore';
import type { RestoreReply } from './restore';

@Controller()
export class RestoreHandlers {
  constructor(
    @Inject(ResultService) private readonly results: ResultService,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @MessagePattern(routes.toolresultRestore.subject)
  async restore(@Payload() message: toolresult.RestoreRequest, @Ctx() ctx: BusContext): Promise<RestoreReply> {
    const counted = this.metrics.counter('toolresult_restored');
    try {
      const { record, content } = await this.results.whole(ctx.team, message.rootId, message.id);
      counted.inc({ outcome: 'ok' });
      return restore(record, content, message);
    } catch (thrown) {
      const fault = NightshiftError.from(thrown);
      if (fault.code === 'NOT_FOUND') counted.inc({ outcome: 'not_found' });
      if (fault.details['mismatch']) counted.inc({ outcome: 'mismatch' });
      throw fault;
    }
  }
}
