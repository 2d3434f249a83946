import { systemTeam, type Bus } from '@nightshift/bus';
import { policyWith, type CompactionPolicy } from '@nightshift/compaction';
import type { NightshiftFile } from '@nightshift/config';
import { fromMs, routes } from '@nightshift/contracts';
import type { Logger, Metrics } from '@nightshift/metrics';
import type { WindowReader } from '@nightshift/windows';
import type { GatewayDeps, Observation } from './core/gateway-deps';
import { gatewayCounters } from './gateway-counters';
import { BreakerBoard } from './health/breaker-board';
import { newId } from './new-id';
import { ProviderSlots } from './health/provider-slots';
import type { ProviderCatalog } from './providers/catalog';
import { createHttpClient } from './transport/http-client';
import { sleep } from './transport/stop-signal';

const stateNumber = { closed: 0, half_open: 1, open: 2 } as const;

export interface Surroundings {
  bus: Bus;
  metrics: Metrics;
  logger: Logger;
  windows: WindowReader;
  catalog: ProviderCatalog;
  file: NightshiftFile;
  instance: string;
}

/** The core's dependencies in a running service: real clock, sockets, bus and metrics. */
export function gatewayDeps({ bus, metrics, logger, windows, catalog, file, instance }: Surroundings): GatewayDeps {
  const trips = metrics.counter('provider_breaker_trips');
  const states = metrics.gauge('provider_breaker_state');
  const breakers = new BreakerBoard(
    instance,
    {
      onTrip(report) {
        trips.inc({ provider: report.provider, model: report.model });
        logger.warn(
          { provider: report.provider, model: report.model, reason: report.reason, until: report.openUntil },
          'provider breaker opened',
        );
      },
      onChange: (report) => states.set({ provider: report.provider, model: report.model }, stateNumber[report.state]),
      onStoreFault: (error) => logger.warn({ error }, 'provider breaker: the shared bucket cannot be written'),
    },
    Date.now,
  );
  const slots = new ProviderSlots();
  const inFlight = metrics.gauge('provider_in_flight');
  metrics.onScrape(() => inFlight.set({}, slots.total));
  return {
    catalog,
    client: createHttpClient(),
    breakers,
    slots,
    policy: policyOf(file),
    windowOf: (candidate, team) => windows.get(candidate.provider, candidate.endpoint, candidate.model, team),
    modelsOf: (provider) => knownModels(catalog, windows, provider),
    attemptEnded: () => Promise.resolve(),
    observe: (observation) => tell(bus, observation, logger),
    counters: gatewayCounters(metrics),
    now: Date.now,
    newId,
    random: Math.random,
    sleep,
  };
}

const shownAtMost = 100;

/** Those of the configuration first, then what the registry has seen at the provider. */
function knownModels(catalog: ProviderCatalog, windows: WindowReader, provider: string): string[] {
  const seen = windows.all().filter((one) => one.provider === provider && one.endpoint === '' && !one.unknown);
  return [...new Set([...catalog.modelsOf(provider), ...seen.map((one) => one.model).sort()])].slice(0, shownAtMost);
}

function policyOf(file: NightshiftFile): CompactionPolicy | undefined {
  const { enabled, fraction, cap, floor, default_reserve, min_retained, token_compression } = file.compaction;
  const given = {
    enabled,
    fraction,
    cap,
    floor,
    defaultReserve: default_reserve,
    minRetained: min_retained,
    tokenCompression: token_compression,
  };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return Object.keys(set).length === 0 ? undefined : policyWith(set);
}

/** Learning is a by-product: a call does not wait for it and does not fail with it. */
function tell(bus: Bus, observation: Observation, logger: Logger): void {
  const atMs = Date.now();
  const { provider, model, kind, tokens } = observation;
  // The same figure within two minutes is one observation; the registry wants a second sighting, not the same one twice.
  const messageId = `observed:${provider}:${model}:${kind}:${tokens}:${Math.floor(atMs / 10_000)}`;
  bus
    .command(routes.windowObserved, { ...observation, atMs: fromMs(atMs) }, { team: systemTeam, messageId })
    .catch((error: unknown) => logger.warn({ error, provider, model }, 'an observed window could not be sent'));
}
