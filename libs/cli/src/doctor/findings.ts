import type { NatsReport } from '@nightshift/bus';
import type { ModelsJson, ProvidersJson } from '../client/shapes';
import { grouped } from '../show/numbers';
import { scalingAdvice, type Advice } from './scaling';

export interface Finding {
  check: 'nats' | 'queues' | 'dead letters' | 'database' | 'sandbox' | 'providers' | 'clocks' | 'windows' | 'scaling';
  /** `fail`: something does not work. `warn`: it works and will hurt. */
  state: 'ok' | 'warn' | 'fail';
  text: string;
}

export interface DatabaseState {
  /** What the schema lacks, in the words of the readiness check. */
  fault?: string;
  /** How far the clock of the database is ahead of ours, in milliseconds, by half a round trip. */
  aheadMs: number;
  runners: readonly { id: string; sandboxed: boolean; reason: string }[];
}

/** What each part said, or why it said nothing. */
export type Seen<T> = { value: T } | { fault: string };

export interface Facts {
  nats: Seen<NatsReport>;
  database: Seen<DatabaseState>;
  models: Seen<ModelsJson>;
  providers: Seen<ProvidersJson>;
  /** How far the clock of the API is ahead of ours; it is told in whole seconds. */
  apiAheadMs?: number;
  deadLetters: Seen<number>;
  nowMs: number;
  slots: number;
}

/** Leases last a minute and deadlines travel as absolute times: this much is eaten from them without anybody noticing. */
const clockToleranceMs = 2_000;
/** A window that was not read for so long is believed and doubted; the registry's own alert fires then too. */
const staleAfterMs = 15 * 60_000;
const mib = 1024 * 1024;

const ok = (check: Finding['check'], text: string): Finding => ({ check, state: 'ok', text });
const warn = (check: Finding['check'], text: string): Finding => ({ check, state: 'warn', text });
const fail = (check: Finding['check'], text: string): Finding => ({ check, state: 'fail', text });

/** What is right, what hurts and what is broken; nothing is asked here. */
export function findingsOf(facts: Facts): { findings: Finding[]; scaling?: Advice } {
  const scaling = scalingOf(facts);
  return {
    findings: [
      ...natsFindings(facts.nats),
      ...deadLetterFindings(facts.deadLetters),
      ...databaseFindings(facts.database),
      ...providerFindings(facts.providers),
      ...clockFindings(facts),
      ...windowFindings(facts),
      ...(scaling ? [{ check: 'scaling', state: scaling.served ? 'ok' : 'fail', text: scaling.words } as const] : []),
    ],
    scaling,
  };
}

function natsFindings(nats: Seen<NatsReport>): Finding[] {
  if ('fault' in nats) return [fail('nats', nats.fault)];
  const { version, maxPayload, faults, queues } = nats.value;
  const missing = (fault: string): boolean => fault.includes('found none') || fault.startsWith('JetStream');
  return [
    ok('nats', `nats-server ${version}, messages up to ${(maxPayload / mib).toFixed(0)} MiB`),
    ...faults.map((fault) => (missing(fault) ? fail : warn)('nats', fault)),
    ...(queues.length > 0 ? [ok('queues', `${queues.length} queues with their consumers`)] : []),
    ...queues
      .filter(({ pending, inFlight, waitingPulls }) => pending > 0 && inFlight === 0 && waitingPulls === 0)
      .map(({ stream, consumer, pending }) =>
        fail('queues', `${stream}: ${grouped(pending)} messages wait and nobody pulls; start the ${consumer}`),
      ),
  ];
}

function deadLetterFindings(letters: Seen<number>): Finding[] {
  if ('fault' in letters) return [];
  return [
    letters.value === 0
      ? ok('dead letters', 'none waits')
      : warn('dead letters', `${grouped(letters.value)} wait for a decision: nightshift dead-letters`),
  ];
}

function databaseFindings(database: Seen<DatabaseState>): Finding[] {
  if ('fault' in database) return [fail('database', database.fault)];
  const { fault, runners } = database.value;
  return [
    fault ? fail('database', fault) : ok('database', 'all migrations of this version are applied'),
    ...(runners.length === 0 && !fault ? [fail('sandbox', 'no tool runner has announced itself in the last minute')] : []),
    ...runners.map(({ id, sandboxed, reason }) =>
      sandboxed
        ? ok('sandbox', `runner ${id}: sandboxed`)
        : warn('sandbox', `runner ${id}: no sandbox (${reason || 'no reason told'})`),
    ),
  ];
}

function providerFindings(providers: Seen<ProvidersJson>): Finding[] {
  if ('fault' in providers) return [fail('providers', providers.fault)];
  const all = providers.value.providers;
  if (all.length === 0) return [fail('providers', 'none is configured: add one to nightshift.yaml')];
  return [
    ...all.map(({ provider, keyConfigured }) =>
      keyConfigured ? ok('providers', `${provider}: key set`) : warn('providers', `${provider}: no key`),
    ),
    ...all.flatMap(({ provider, breakers }) =>
      breakers
        .filter(({ state }) => state !== 'closed')
        .map(({ model, state, reason }) => warn('providers', `${provider}/${model}: breaker ${state} (${reason})`)),
    ),
  ];
}

function clockFindings({ database, apiAheadMs }: Facts): Finding[] {
  const clocks: [string, number][] = [];
  if ('value' in database) clocks.push(['database', database.value.aheadMs]);
  if (apiAheadMs !== undefined) clocks.push(['api', apiAheadMs]);
  return clocks.map(([whose, ahead]) =>
    Math.abs(ahead) <= clockToleranceMs
      ? ok('clocks', `${whose}: as ours`)
      : fail(
          'clocks',
          `${whose}: ${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine; run a time service`,
        ),
  );
}

function windowFindings({ models, nowMs }: Facts): Finding[] {
  if ('fault' in models) return [fail('windows', models.fault)];
  const { windows, endpoints } = models.value;
  const known = windows.flatMap(({ window }) => (window ? [window] : []));
  const name = (window: { provider: string; model: string }): string => `${window.provider}/${window.model}`;
  const unknown = known.filter((window) => window.unknown);
  const stale = known.filter((window) => window.stale);
  return [
    ok('windows', `${grouped(known.length - unknown.length)} models with a known window`),
    ...unknown.map((window) =>
      warn('windows', `${name(window)}: window unknown, ${grouped(window.window)} assumed; nightshift models override`),
    ),
    ...stale.map((window) => warn('windows', `${name(window)}: last read ${ago(nowMs - window.atMs)} ago, still in use`)),
    ...endpoints
      .filter(({ lastOkMs }) => lastOkMs > 0 && nowMs - lastOkMs > staleAfterMs)
      .map(({ provider, endpoint, lastOkMs, reason }) =>
        warn('windows', `${provider} at ${endpoint}: no answer for ${ago(nowMs - lastOkMs)}${reason ? ` (${reason})` : ''}`),
      ),
  ];
}

function scalingOf({ nats, slots }: Facts): Advice | undefined {
  if ('fault' in nats) return undefined;
  const queue = nats.value.queues.find(({ stream }) => stream === 'COMPACTION_RUN');
  return queue && scalingAdvice(queue, slots);
}

const ago = (ms: number): string => (ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);
