import { Inject, Injectable } from '@nestjs/common';
import { Bus, systemTeam } from '@nightshift/bus';
import { NightshiftError, routes } from '@nightshift/contracts';
import type { provider as gateway } from '@nightshift/contracts';
import { Logger, Metrics } from '@nightshift/metrics';
import type { ConfiguredProvider } from '../endpoints/configured';
import { EndpointStore } from '../endpoints/endpoint.store';
import type { EndpointReport, EndpointState } from '../endpoints/endpoint.store';
import type { ServerReader } from '../servers/server-reader';
import { serverReaderFor } from '../servers/server-readers';
import { Publisher } from '../windows/publisher';
import { WindowService } from '../windows/window-service';
import { WindowStore } from '../windows/window.store';
import type { PolledFigures } from '../windows/window.store';
import { jsonClient } from './json-client';
import type { JsonClient } from './json-client';
import { POLL_SETTINGS } from './poll-settings';
import type { PollSettings } from './poll-settings';

/** Codes of the bus itself; a vendor that does not answer has codes of its own. */
const gatewayAway: readonly string[] = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'BUSY'];

export interface DirectServer {
  reader: ServerReader;
  client: JsonClient;
}

/** One look at one endpoint: read, store, publish what changed, report. */
@Injectable()
export class EndpointPoller {
  private readonly servers = new Map<string, DirectServer | undefined>();
  private readonly running = new Map<string, Promise<EndpointState>>();
  private readonly states = new Map<string, string>();
  private readonly lookedAt = new Map<string, number>();

  constructor(
    @Inject(Bus) private readonly bus: Bus,
    @Inject(WindowStore) private readonly windows: WindowStore,
    @Inject(EndpointStore) private readonly endpoints: EndpointStore,
    @Inject(WindowService) private readonly service: WindowService,
    @Inject(Publisher) private readonly publisher: Publisher,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(Logger) private readonly logger: Logger,
    @Inject(POLL_SETTINGS) private readonly settings: PollSettings,
  ) {}

  /** The server behind a provider that is read directly. */
  server(provider: ConfiguredProvider): DirectServer | undefined {
    if (!this.servers.has(provider.provider)) {
      const reader = provider.endpoint ? serverReaderFor(provider.vendor) : undefined;
      this.servers.set(provider.provider, reader && { reader, client: jsonClient(provider.endpoint, this.settings) });
    }
    return this.servers.get(provider.provider);
  }

  /** Never rejects; a look that is under way is joined. `unknown`: it came to nothing for reasons of our own. */
  poll(provider: ConfiguredProvider): Promise<EndpointState> {
    const known = this.running.get(provider.provider);
    if (known) return known;
    const started = this.look(provider)
      .catch((error: unknown): EndpointState => {
        this.logger.warn({ error, provider: provider.provider }, 'a poll could not be stored');
        return 'unknown';
      })
      .finally(() => this.running.delete(provider.provider));
    this.running.set(provider.provider, started);
    return started;
  }

  /** Infinity before the first look of this process. */
  msSinceLook(provider: ConfiguredProvider): number {
    return performance.now() - (this.lookedAt.get(provider.provider) ?? -Infinity);
  }

  private async look(provider: ConfiguredProvider): Promise<EndpointState> {
    this.lookedAt.set(provider.provider, performance.now());
    const report = await this.read(provider);
    const outcome = report.state === 'up' ? 'ok' : report.state === 'refused' ? 'error' : 'unreachable';
    this.metrics.counter('window_polls').inc({ outcome });
    if (this.states.get(provider.provider) !== report.state) {
      const { state, reason } = report;
      this.logger.info(
        { provider: provider.provider, endpoint: provider.endpoint, state, reason },
        'provider endpoint changed its state',
      );
      this.states.set(provider.provider, report.state);
    }
    if (report.state === 'unknown') return report.state;
    await this.endpoints.save(provider.provider, provider.endpoint, report);
    if (report.state !== 'up') return report.state;
    for (const each of await this.service.describeAll('none')) {
      if (each.name.provider === provider.provider && each.name.endpoint === provider.endpoint)
        await this.publisher.publish(each);
    }
    return report.state;
  }

  private async read(provider: ConfiguredProvider): Promise<EndpointReport> {
    try {
      return await this.readFrom(provider);
    } catch (thrown) {
      const fault = NightshiftError.from(thrown);
      return { state: fault.retryable ? 'down' : 'refused', reason: fault.text, version: '' };
    }
  }

  private async readFrom(provider: ConfiguredProvider): Promise<EndpointReport> {
    const direct = this.server(provider);
    if (!direct) return this.list(provider);
    try {
      const { models, version, remarks } = await direct.reader.poll(direct.client);
      await this.windows.savePoll(provider, 'served', models);
      const more = remarks.length > 1 ? ` (and ${remarks.length - 1} more)` : '';
      return { state: 'up', reason: remarks.length > 0 ? `${remarks[0]}${more}` : '', version };
    } catch (thrown) {
      // Keys are the gateway's alone: a server that wants one is listed through it.
      if (provider.needsKey && [401, 403].includes(Number(NightshiftError.from(thrown).details['status'])))
        return this.list(provider);
      throw thrown;
    }
  }

  private async list(provider: ConfiguredProvider): Promise<EndpointReport> {
    const asked = { provider: provider.provider, endpoint: provider.endpoint };
    let reply: gateway.ListModelsReply;
    try {
      reply = await this.bus.request(routes.providerListModels, asked, { team: systemTeam });
    } catch (thrown) {
      // A gateway that is not there (at start it comes later) says nothing about the vendor.
      if (!gatewayAway.includes(NightshiftError.from(thrown).code)) throw thrown;
      return { state: 'unknown', reason: 'the gateway, which holds the keys, does not answer', version: '' };
    }
    if (!reply.supported) return { state: 'up', reason: 'this vendor has no list of its models', version: '' };
    const models = reply.models
      .filter((each) => each.id && each.id.length <= 300)
      .map(
        (each): PolledFigures => ({
          model: each.id,
          ...(each.context ? { window: each.context } : {}),
          ...(each.inputMax ? { inputMax: each.inputMax } : {}),
          ...(each.outputMax ? { outputMax: each.outputMax } : {}),
          loaded: true,
          cloud: false,
          note: 'list of the vendor',
        }),
      );
    await this.windows.savePoll(provider, 'list', models);
    return { state: 'up', reason: '', version: '' };
  }
}
