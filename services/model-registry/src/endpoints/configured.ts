import type { ModelEntry, NightshiftFile } from '@nightshift/config';
import { catalogueVendors } from '../catalogue/catalogue';

/** One provider of nightshift.yaml, as the registry sees it. */
export interface ConfiguredProvider {
  provider: string;
  vendor: string;
  /** Base URL without a slash at its end; empty = the vendor's own address, which only the gateway knows. */
  endpoint: string;
  models: Readonly<Record<string, ModelEntry>>;
  /** The server asks for a key, which only the gateway has. */
  needsKey: boolean;
}

/** Where a local server listens unless the file says otherwise. */
const localDefaults: Readonly<Record<string, string>> = {
  ollama: 'http://127.0.0.1:11434',
  lmstudio: 'http://127.0.0.1:1234',
  vllm: 'http://127.0.0.1:8000',
  sglang: 'http://127.0.0.1:30000',
  llamacpp: 'http://127.0.0.1:8080',
};

export const localVendors: readonly string[] = Object.keys(localDefaults);

export const normalEndpoint = (url: string): string => url.replace(/\/+$/, '');

/** Every provider that a task can name: those of the file, then the vendors usable with a key from the environment. */
export class ConfiguredProviders {
  private readonly providers = new Map<string, ConfiguredProvider>();

  constructor(private readonly file: NightshiftFile) {
    for (const vendor of catalogueVendors) this.add({ provider: vendor, vendor, endpoint: '', models: {}, needsKey: true });
    for (const [provider, entry] of Object.entries(file.providers)) {
      const endpoint = normalEndpoint(entry.base_url ?? localDefaults[entry.vendor] ?? '');
      const needsKey = entry.api_key_env !== undefined || entry.api_key_file !== undefined;
      this.add({ provider, vendor: entry.vendor, endpoint, models: entry.models, needsKey });
    }
  }

  get(provider: string): ConfiguredProvider | undefined {
    return this.providers.get(provider);
  }

  all(): ConfiguredProvider[] {
    return [...this.providers.values()];
  }

  /** Those that nightshift.yaml names: only their addresses are ever contacted. */
  named(): ConfiguredProvider[] {
    return this.all().filter((each) => each.provider in this.file.providers);
  }

  /**
   * The address the registry keeps a model under. Empty means the provider's configured one; and where the file gives
   * none, whatever address a caller found out belongs to the vendor and is the same place.
   */
  endpointOf(provider: string, endpoint: string): string {
    const configured = this.providers.get(provider)?.endpoint;
    if (configured === undefined) return normalEndpoint(endpoint);
    return endpoint === '' || configured === '' ? configured : normalEndpoint(endpoint);
  }

  /** Models that the file names anywhere. */
  namedModels(): { provider: string; model: string }[] {
    const chains = Object.values(this.file.chains).flat();
    const onDevice = this.file.on_device ? [this.file.on_device] : [];
    const own = this.named().flatMap(({ provider, models }) => Object.keys(models).map((model) => ({ provider, model })));
    return [...own, ...chains, ...onDevice];
  }

  private add(provider: ConfiguredProvider): void {
    this.providers.set(provider.provider, provider);
  }
}
