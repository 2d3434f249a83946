import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { NightshiftError, type llm } from '@nightshift/contracts';
import type { NightshiftFile, ProviderEntry } from '@nightshift/config';
import { createScrubber } from '@nightshift/metrics';
import { formats } from '../formats';
import type { Target } from '../formats/format';
import { defaultClocks, type ClockLimits } from '../transport/clocks';
import { isVendorName, vendorNames, vendors } from '../vendors/rows';
import type { Vendor } from '../vendors/vendor';
import type { Provider } from './provider';

const defaultConcurrency = 64;
/** Shorter values are placeholders ("none", "test"); masking them would hit ordinary words. */
const shortestSecret = 6;

/** The providers of the configuration file. Immutable: a change of the file needs a restart. */
export class ProviderCatalog {
  private constructor(
    private readonly byId: ReadonlyMap<string, Provider>,
    private readonly chainModels: readonly string[],
    readonly secrets: readonly string[],
    readonly scrub: (text: string) => string,
  ) {}

  /**
   * @param environment values of the variables that `api_key_env` names
   * @throws NightshiftError INVALID_ARGUMENT with every fault of every provider
   */
  static from(file: NightshiftFile, environment: Readonly<Record<string, string | undefined>>): ProviderCatalog {
    const faults: string[] = [];
    const providers = new Map<string, Provider>();
    const secrets: string[] = [];
    for (const [id, entry] of Object.entries(file.providers)) {
      const provider = providerOf(id, entry, environment, faults);
      if (!provider) continue;
      providers.set(id, provider);
      if (provider.target.apiKey.length >= shortestSecret) secrets.push(provider.target.apiKey);
      for (const [name, value] of Object.entries(entry.headers)) {
        if (/auth|key|token|secret|cookie/i.test(name) && value.length >= shortestSecret) secrets.push(value);
      }
    }
    if (faults.length > 0) {
      throw new NightshiftError('INVALID_ARGUMENT', `provider configuration is not valid\n  ${faults.join('\n  ')}`, { faults });
    }
    const chainModels = Object.values(file.chains).flatMap((chain) => chain.map((c) => `${c.provider}/${c.model}`));
    return new ProviderCatalog(providers, chainModels, secrets, createScrubber(secrets));
  }

  get(id: string): Provider | undefined {
    return this.byId.get(id);
  }

  all(): Provider[] {
    return [...this.byId.values()];
  }

  /** Models named in the file, as "provider/model". */
  known(): string[] {
    const named = this.all().flatMap((provider) => Object.keys(provider.models).map((model) => `${provider.id}/${model}`));
    return [...new Set([...this.chainModels, ...named])].sort();
  }

  modelsOf(id: string): string[] {
    return this.known()
      .filter((name) => name.startsWith(`${id}/`))
      .map((name) => name.slice(id.length + 1));
  }

  /** @throws NightshiftError PROVIDER_NOT_FOUND that names what is configured; INVALID_ARGUMENT for a foreign endpoint */
  require(candidate: llm.Candidate): Provider {
    const provider = this.byId.get(candidate.provider);
    if (!provider) throw this.notFound(`no provider "${candidate.provider}" is configured`);
    // A key must never travel to an address that the configuration does not name.
    if (candidate.endpoint && candidate.endpoint !== provider.target.baseUrl) {
      throw new NightshiftError(
        'INVALID_ARGUMENT',
        `${candidate.provider}: ${candidate.endpoint} is not its configured endpoint`,
      );
    }
    if (!candidate.model) throw new NightshiftError('INVALID_ARGUMENT', `${candidate.provider}: a model name is missing`);
    return provider;
  }

  notFound(reason: string): NightshiftError {
    const known = this.known();
    const providers = [...this.byId.keys()];
    const hint = known.length > 0 ? `known models: ${known.join(', ')}` : `known providers: ${providers.join(', ') || 'none'}`;
    return new NightshiftError('PROVIDER_NOT_FOUND', `${reason}; ${hint}`, { details: { known, providers } });
  }
}

function providerOf(
  id: string,
  entry: ProviderEntry,
  environment: Readonly<Record<string, string | undefined>>,
  faults: string[],
): Provider | undefined {
  const fault = (field: string, text: string): void => void faults.push(`providers.${id}.${field}: ${text}`);
  if (!isVendorName(entry.vendor)) {
    fault('vendor', `expected one of ${vendorNames.join(', ')}, got ${JSON.stringify(entry.vendor)}`);
    return undefined;
  }
  const vendor: Vendor = vendors[entry.vendor];
  const before = faults.length;
  const apiKey = keyOf(entry, vendor, environment, fault);
  const url = entry.base_url ?? vendor.baseUrl;
  if (url === undefined) fault('base_url', `expected the endpoint, since ${vendor.title} has no usual one`);
  else if (!/^https?:\/\//.test(url)) fault('base_url', `expected http:// or https://, got ${url.split(':')[0]}:`);
  else if (URL.canParse(url) && (new URL(url).username || new URL(url).password))
    fault('base_url', 'expected no credentials in the URL; use api_key_env or api_key_file');
  if (faults.length > before || url === undefined || apiKey === undefined) return undefined;
  const parsed = new URL(url);
  const query = { ...vendor.query, ...Object.fromEntries(parsed.searchParams) };
  parsed.search = '';
  const target: Target = {
    baseUrl: parsed.href.replace(/\/$/, ''),
    apiKey,
    headers: { ...vendor.headers, ...entry.headers },
    query,
    quirks: vendor.quirks,
  };
  return {
    id,
    vendorName: entry.vendor,
    vendor,
    format: formats[vendor.format],
    target,
    credential: apiKey ? createHash('sha256').update(apiKey).digest('hex').slice(0, 8) : 'none',
    clocks: clocksOf(entry.clocks),
    maxConcurrency: entry.max_concurrency ?? defaultConcurrency,
    models: entry.models,
  };
}

function keyOf(
  entry: ProviderEntry,
  vendor: Vendor,
  environment: Readonly<Record<string, string | undefined>>,
  fault: (field: string, text: string) => void,
): string | undefined {
  if (entry.api_key_env !== undefined && entry.api_key_file !== undefined) {
    fault('api_key_file', 'expected either api_key_env or api_key_file, got both');
    return undefined;
  }
  if (entry.api_key_file !== undefined) {
    try {
      const key = readFileSync(entry.api_key_file, 'utf8').trim();
      if (key) return key;
      fault('api_key_file', `${entry.api_key_file} is empty`);
    } catch (error) {
      fault('api_key_file', `cannot read ${entry.api_key_file} (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`);
    }
    return undefined;
  }
  const name = entry.api_key_env ?? (vendor.needsKey ? vendor.keyEnv : undefined);
  const key = name === undefined ? '' : (environment[name] ?? '').trim();
  if (key) return key;
  // A key that the file names must be there; a vendor that works without one is called without one.
  if (entry.api_key_env !== undefined) fault('api_key_env', `the environment variable ${entry.api_key_env} is not set`);
  else if (vendor.needsKey)
    fault(
      'api_key_env',
      `${vendor.title} needs a key: set ${vendor.keyEnv ?? 'api_key_env'}, or name another variable or a file`,
    );
  else return '';
  return undefined;
}

function clocksOf(entry: ProviderEntry['clocks']): ClockLimits {
  return {
    connect: entry.connect_ms ?? defaultClocks.connect,
    headers: entry.headers_ms ?? defaultClocks.headers,
    firstContent: entry.first_content_ms ?? defaultClocks.firstContent,
    idle: entry.idle_ms ?? defaultClocks.idle,
    total: entry.total_ms ?? defaultClocks.total,
  };
}
