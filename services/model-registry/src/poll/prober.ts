import { Inject, Injectable } from '@nestjs/common';
import { Logger } from '@nightshift/metrics';
import { ConfiguredProviders } from '../endpoints/configured';
import type { ConfiguredProvider } from '../endpoints/configured';
import type { ModelName } from '../windows/window-rows';
import { WindowStore } from '../windows/window.store';
import { EndpointPoller } from './endpoint-poller';

/** A task waits this long for the window of its model; what comes later takes effect on its next iteration. */
const probeMs = 2_000;
const refreshMs = 25_000;
const loadMs = 120_000;
const listAgainMs = 30_000;

/** Looks that somebody waits for. */
@Injectable()
export class Prober {
  private readonly loading = new Map<string, Promise<void>>();

  constructor(
    @Inject(EndpointPoller) private readonly poller: EndpointPoller,
    @Inject(ConfiguredProviders) private readonly providers: ConfiguredProviders,
    @Inject(WindowStore) private readonly store: WindowStore,
    @Inject(Logger) private readonly logger: Logger,
  ) {}

  /** Asks the server now, and loads the model first where that is allowed. Returns after 2 s at the latest; never rejects. */
  async probe(name: ModelName, options: { mayLoad: boolean; numCtx: number }): Promise<void> {
    const provider = this.configuredAt(name);
    if (provider) await within(probeMs, this.look(provider, name.model, options));
  }

  /** Asks every configured endpoint (of one provider where named); 25 s at the latest. */
  async refresh(provider: string): Promise<void> {
    const wanted = this.providers.named().filter((each) => !provider || each.provider === provider);
    await within(refreshMs, Promise.all(wanted.map((each) => this.poller.poll(each))));
  }

  private configuredAt(name: ModelName): ConfiguredProvider | undefined {
    return this.providers.named().find((each) => each.provider === name.provider && each.endpoint === name.endpoint);
  }

  private async look(provider: ConfiguredProvider, model: string, options: { mayLoad: boolean; numCtx: number }): Promise<void> {
    // A vendor's list seldom changes, and callers may ask often for a model that it does not have.
    if (this.poller.server(provider) || this.poller.msSinceLook(provider) > listAgainMs) await this.poller.poll(provider);
    if (!options.mayLoad) return;
    const known = await this.store.one({ provider: provider.provider, endpoint: provider.endpoint, model });
    if (!known.served || known.served.loaded || known.served.cloud) return;
    await this.load(provider, model, options.numCtx);
    await this.poller.poll(provider);
  }

  /** One load per model at a time; it goes on after the caller has stopped waiting. */
  private load(provider: ConfiguredProvider, model: string, numCtx: number): Promise<void> {
    const server = this.poller.server(provider);
    const key = `${provider.provider}/${model}`;
    const started =
      this.loading.get(key) ??
      (server?.reader.load?.(server.client, model, { numCtx, signal: AbortSignal.timeout(loadMs) }) ?? Promise.resolve())
        .catch((error: unknown) => this.logger.warn({ error, model: key }, 'a model could not be loaded'))
        .finally(() => this.loading.delete(key));
    this.loading.set(key, started);
    return started;
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, patience]);
  clearTimeout(timer);
}
