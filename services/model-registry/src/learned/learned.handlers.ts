import { Controller, Inject } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { routes } from '@nightshift/contracts';
import type { registry } from '@nightshift/contracts';
import { Metrics } from '@nightshift/metrics';
import { Prober } from '../poll/prober';
import { Publisher } from '../windows/publisher';
import { WindowService } from '../windows/window-service';
import { WindowStore } from '../windows/window.store';
import { LearnedStore } from './learned.store';
import { lessonOf } from './observation';

@Controller()
export class LearnedHandlers {
  constructor(
    @Inject(LearnedStore) private readonly learned: LearnedStore,
    @Inject(WindowStore) private readonly store: WindowStore,
    @Inject(WindowService) private readonly windows: WindowService,
    @Inject(Publisher) private readonly publisher: Publisher,
    @Inject(Prober) private readonly prober: Prober,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  @EventPattern(routes.windowObserved.subject)
  async observed(@Payload() message: registry.Observed, @Ctx() _ctx: BusContext): Promise<void> {
    const lesson = lessonOf(message);
    if (lesson.teaches === 'nothing') return;
    const name = this.windows.nameOf({ provider: message.provider, endpoint: message.endpoint, model: message.model });
    if (lesson.teaches === 'accepted') {
      await this.learned.accepted(name, lesson.tokens);
    } else {
      // Something is not as believed, and the model is loaded now: the server is asked before its error is compared.
      await this.prober.probe(name, { mayLoad: false, numCtx: 0 });
      const known = await this.store.one(name);
      const against = known.served?.window ?? known.list?.window ?? undefined;
      if (await this.learned.learn(name, lesson, against))
        this.metrics.counter('window_learned').inc({ provider: name.provider });
    }
    for (const each of await this.windows.describeForEveryone(name)) await this.publisher.publish(each);
  }
}
