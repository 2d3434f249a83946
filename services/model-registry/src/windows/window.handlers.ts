import { Controller, Inject } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { BusContext } from '@nightshift/bus';
import { NightshiftError, routes } from '@nightshift/contracts';
import type { registry } from '@nightshift/contracts';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ConfiguredProviders } from '../endpoints/configured';
import { EndpointStore } from '../endpoints/endpoint.store';
import { Prober } from '../poll/prober';
import { Publisher } from './publisher';
import { WindowService, windowReply } from './window-service';
import { WindowStore } from './window.store';

const longestName = 300;

@Controller()
export class WindowHandlers {
  constructor(
    @Inject(WindowService) private readonly windows: WindowService,
    @Inject(WindowStore) private readonly store: WindowStore,
    @Inject(EndpointStore) private readonly endpoints: EndpointStore,
    @Inject(ConfiguredProviders) private readonly providers: ConfiguredProviders,
    @Inject(Publisher) private readonly publisher: Publisher,
    @Inject(Prober) private readonly prober: Prober,
  ) {}

  /** The window of one model for the asking team; probes first where that was asked and nothing is known or loaded. */
  @MessagePattern(routes.windowResolve.subject)
  async resolve(@Payload() message: registry.WindowRequest, @Ctx() ctx: BusContext): Promise<registry.WindowReply> {
    const name = this.windows.nameOf(checkedName(message));
    // Only of providers that exist: a caller cannot fill the table with names.
    if (this.providers.get(name.provider)) await this.store.noteAsked(name);
    let found = await this.windows.describe(name, ctx.team);
    const worthProbing = found.described.unknown || found.described.notLoaded;
    if ((message.probe || message.mayLoad) && worthProbing) {
      await this.prober.probe(name, { mayLoad: message.mayLoad, numCtx: found.described.numCtx });
      found = await this.windows.describe(name, ctx.team);
    }
    await this.publisher.publish(await this.windows.describe(name));
    return windowReply(found);
  }

  /** Everything stored or named in the file, and a vendor's catalogue where one provider is asked for. */
  @MessagePattern(routes.windowList.subject)
  async list(
    @Payload() message: registry.ListWindowsRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof registry.ListWindowsReplySchema>> {
    if (message.refresh) await this.prober.refresh(message.provider);
    const all = await this.windows.describeAll(message.provider ? { provider: message.provider } : 'none');
    const mine = all.filter(
      ({ name, team }) => (team ?? ctx.team) === ctx.team && (message.provider || name.provider) === name.provider,
    );
    // The team's own window takes the place of the general one.
    const own = new Set(mine.filter((each) => each.team !== undefined).map(({ name }) => JSON.stringify(name)));
    const shown = mine.filter((each) => each.team !== undefined || !own.has(JSON.stringify(each.name)));
    return { windows: shown.map(windowReply), endpoints: await this.endpoints.status(this.providers.named()) };
  }

  @MessagePattern(routes.windowOverride.subject)
  async override(
    @Payload() message: registry.SetOverrideRequest,
    @Ctx() ctx: BusContext,
  ): Promise<MessageInitShape<typeof registry.SetOverrideReplySchema>> {
    const name = this.windows.nameOf(checkedName(message));
    const figures = { window: message.window, inputMax: message.inputMax, outputMax: message.outputMax, numCtx: message.numCtx };
    const removes = Object.values(figures).every((figure) => figure === 0);
    if (removes) {
      await this.store.removeOverride(ctx.team, name);
      await this.publisher.withdraw(name, ctx.team);
    } else {
      const { window, inputMax, outputMax, numCtx } = figures;
      await this.store.saveOverride({
        teamId: ctx.team,
        ...name,
        window: window || null,
        inputMax: inputMax || null,
        outputMax: outputMax || null,
        numCtx: numCtx || null,
      });
      await this.publisher.publish(await this.windows.describe(name, ctx.team));
    }
    return { window: windowReply(await this.windows.describe(name, ctx.team)) };
  }
}

function checkedName(asked: { provider: string; endpoint: string; model: string }): {
  provider: string;
  endpoint: string;
  model: string;
} {
  const faults = [
    ...(asked.provider ? [] : ['provider: expected a name']),
    ...(asked.model ? [] : ['model: expected a name']),
    ...Object.entries({ provider: asked.provider, model: asked.model }).flatMap(([field, value]) =>
      value.length > longestName || value.includes('\0') ? [`${field}: expected at most ${longestName} characters`] : [],
    ),
  ];
  if (faults.length > 0) throw new NightshiftError('INVALID_ARGUMENT', faults.join('; '), { faults });
  return { provider: asked.provider, endpoint: asked.endpoint, model: asked.model };
}
