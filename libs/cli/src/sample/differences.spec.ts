import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serviceNames } from '../local/layout';
import type { DatabaseFacts } from './database-facts';
import { differences, type Evidence } from './differences';
import { metricsFacts } from './metrics-facts';
import type { Report } from './report';
import { simulatorFacts } from './simulator-facts';

const tiers = [{ tier: 'summary', outcome: 'applied', before: 40_000, after: 9_000, reason: '' }];
const pass = { model: 'sim/primary', window: 64_000, threshold: 32_000, before: 40_000, after: 9_000, tiers };
const figures: Omit<Report, 'ok' | 'services'> = {
  seconds: 61.2,
  task: { id: 't', state: 'completed', toolCalls: 61, criteria: { open: 0, closed: 4 } },
  thresholdHits: 2,
  compactions: [
    { generation: 1, ...pass },
    { generation: 2, ...pass },
  ],
  fallbacks: [{ from: 'sim/primary', to: 'sim/fallback', reason: 'rate_limit', window: 200_000, threshold: 100_000 }],
  restores: [{ id: 'r', bytes: 5, sha256Matches: true }],
  reinjected: ['file', 'goal', 'plan'].map((kind) => ({ kind, count: 2 })),
};
const report: Report = { ok: true, services: [...serviceNames], ...figures };
const database: DatabaseFacts = { ...figures, traces: 0, rateLimited: 1 };
const evidence: Evidence = {
  database,
  metrics: {
    processes: { ...Object.fromEntries(serviceNames.map((name) => [name, 1])), compactor: 2 },
    thresholdHits: 2,
    committedPasses: 2,
    tierRuns: () => 2,
    fallbacks: 1,
    toolCalls: 61,
    restored: 1,
  },
  simulator: { windows: { primary: 64_000 }, toolCalls: 61, movedByRateLimit: 1, summaries: 2 },
};

describe('differences', () => {
  it('finds none in a true report', () => {
    expect(differences(report, evidence)).toEqual([]);
  });

  it.each<[string, Partial<Report> | object, RegExp]>([
    ['more tool calls', { task: { ...figures.task, toolCalls: 90 } }, /Postgres.*\n.*\/metrics.*\n.*simulator/],
    ['a hidden threshold hit', { thresholdHits: 1 }, /thresholdHits: the report says 1, Postgres says 2/],
    ['a compaction that never was', { compactions: [...report.compactions, { generation: 3, ...pass }] }, /compactions/],
    ['a better compaction', { compactions: [{ generation: 1, ...pass, after: 1 }, report.compactions[1]] }, /"after":1,/],
    ['another tier outcome', { compactions: report.compactions.map((one) => ({ ...one, tiers: [] })) }, /compactions/],
    ['no fallback', { fallbacks: [] }, /fallbacks/],
    ['a foreign window', { compactions: report.compactions.map((one) => ({ ...one, window: 1 })) }, /window of generation 1/],
    ['a restore more', { restores: [...report.restores, { id: 'q', bytes: 1, sha256Matches: true }] }, /restores/],
    ['a missing service', { services: ['api'] }, /services/],
    ['not ok', { ok: false }, /ok: the report says false, the recomputation says true/],
    ['a quicker run', { seconds: 1 }, /seconds/],
    ['a field of its own', { extra: 1 }, /extra: not a field/],
    ['a field less', { reinjected: undefined }, /reinjected/],
  ])('names %s', (_, change, expected) => {
    expect(differences({ ...report, ...change } as Report, evidence).join('\n')).toMatch(expected);
  });

  it('recomputes ok from the evidence', () => {
    const traces = { ...evidence, database: { ...database, traces: 1 } };
    expect(differences(report, traces).join()).toMatch(/ok: the report says true/);
    const nobody = {
      ...evidence,
      metrics: { ...evidence.metrics, processes: Object.fromEntries(serviceNames.map((name) => [name, 1])) },
    };
    expect(differences(report, nobody).join()).toMatch(/ok: the report says true/);
  });
});

describe('evidence on disk', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'nightshift-facts-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('sums the figures of every process of a service', () => {
    writeFileSync(path.join(folder, 'provider-gateway.a.prom'), 'nightshift_provider_fallbacks_total{reason="rate_limited"} 1\n');
    writeFileSync(path.join(folder, 'provider-gateway.b.prom'), 'nightshift_provider_fallbacks_total{reason="rate_limited"} 2\n');
    expect(metricsFacts(folder)).toMatchObject({ processes: { 'provider-gateway': 2 }, fallbacks: 3 });
  });

  it('counts a repeated request of the simulator once, and a 429 that moved the task', () => {
    const line = (fields: object): string =>
      JSON.stringify({ model: 'p', purpose: 'turn', status: 200, ended: 'complete', sha256: 'a', window: 64, ...fields });
    const log = [
      line({ calls: ['read_file', 'read_file'] }),
      line({ calls: ['read_file', 'read_file'] }),
      line({ calls: ['x'], ended: 'client_closed', sha256: 'b' }),
      line({ status: 429, sha256: 'c' }),
      line({ model: 'f', sha256: 'd', calls: ['finish'] }),
      line({ purpose: 'summary', sha256: 'e' }),
      '{"model": "cut by a kil',
    ];
    writeFileSync(path.join(folder, 'requests.jsonl'), log.join('\n'));
    expect(simulatorFacts(path.join(folder, 'requests.jsonl'))).toEqual({
      windows: { p: 64, f: 64 },
      toolCalls: 3,
      movedByRateLimit: 1,
      summaries: 1,
    });
  });
});
