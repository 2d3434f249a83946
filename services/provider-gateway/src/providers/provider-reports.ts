import type { MessageInitShape } from '@bufbuild/protobuf';
import { fromMs, NightshiftError, type provider as contract } from '@nightshift/contracts';
import type { GatewayDeps } from '../core/gateway-deps';
import type { StopSignal } from '../transport/stop-signal';
import { listModels } from './model-lists';

/** What is told about providers: their models, and why each of them is or is not asked. */
export class ProviderReports {
  constructor(private readonly deps: GatewayDeps) {}

  /** @throws NightshiftError PROVIDER_NOT_FOUND, or the class of the provider's answer */
  async models(id: string, signal: StopSignal): Promise<MessageInitShape<typeof contract.ListModelsReplySchema>> {
    const provider = this.deps.catalog.get(id);
    if (!provider) throw this.deps.catalog.notFound(`no provider "${id}" is configured`);
    try {
      const models = await listModels(provider, this.deps.client, signal, this.deps.now());
      return models ? { supported: true, models } : { supported: false, models: [] };
    } catch (error) {
      const fault = NightshiftError.from(error);
      throw new NightshiftError(fault.code, this.deps.catalog.scrub(fault.text), { details: fault.details });
    }
  }

  status(): MessageInitShape<typeof contract.ProviderStatusSchema>[] {
    const breakers = this.deps.breakers.reports();
    return this.deps.catalog.all().map((provider) => ({
      provider: provider.id,
      endpoint: provider.target.baseUrl,
      format: provider.format.name,
      keyConfigured: provider.target.apiKey !== '',
      inFlight: this.deps.slots.inFlight(provider.id),
      limit: provider.maxConcurrency,
      models: this.deps.catalog.modelsOf(provider.id),
      breakers: breakers
        .filter((one) => one.provider === provider.id)
        .map((one) => ({
          model: one.model,
          state: one.state,
          failures: one.failures,
          openUntilMs: fromMs(one.openUntil),
          reason: one.reason,
          trips: one.trips,
          credential: one.credential,
        })),
    }));
  }
}
