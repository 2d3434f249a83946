import type { GenerationJson } from '../client/shapes';
import { compactionsOf, missingFrom, reinjectedOf, secondsBetween, type Report } from './report';
import { askedId, restoredBytes } from './restored';

function generation(fields: Partial<GenerationJson>): GenerationJson {
  return {
    generation: 1,
    passId: 'p',
    reason: 'threshold',
    outcome: 'reduced',
    tiers: [{ tier: 'summary', outcome: 'applied', before: 40_000, after: 9_000, ms: 5, reason: '' }],
    before: 40_000,
    after: 9_000,
    window: 64_000,
    threshold: 32_000,
    effectiveThreshold: 32_000,
    provider: 'sim',
    model: 'primary',
    windowSource: 'operator',
    atMs: 1,
    active: true,
    undoes: 0,
    reinjected: [
      { kind: 'goal', count: 1 },
      { kind: 'file', count: 2 },
    ],
    ms: 7,
    detail: '',
    ...fields,
  };
}

const services = ['api', 'orchestrator'];
const good: Omit<Report, 'ok'> = {
  seconds: 60,
  services,
  task: { id: 't', state: 'completed', toolCalls: 60, criteria: { open: 0, closed: 4 } },
  thresholdHits: 2,
  compactions: compactionsOf([generation({}), generation({ generation: 2 })]),
  fallbacks: [{ from: 'a', to: 'b', reason: 'rate_limit', window: 200_000, threshold: 100_000 }],
  restores: [{ id: 'r', bytes: 10, sha256Matches: true }],
  reinjected: [
    { kind: 'file', count: 1 },
    { kind: 'goal', count: 2 },
    { kind: 'plan', count: 2 },
  ],
};
const undisturbed = { killed: 'provider-gateway', traces: 0 };

describe('missingFrom', () => {
  it('finds nothing missing when everything happened', () => {
    expect(missingFrom(good, undisturbed, services)).toEqual([]);
  });

  it.each<[string, Partial<Omit<Report, 'ok'>>, RegExp]>([
    ['an unfinished task', { task: { ...good.task, state: 'failed' } }, /failed, not completed/],
    ['open criteria', { task: { ...good.task, criteria: { open: 1, closed: 3 } } }, /1 criteria are open/],
    ['too few tool calls', { task: { ...good.task, toolCalls: 59 } }, /59 tool calls/],
    ['one threshold hit', { thresholdHits: 1 }, /1 threshold hits/],
    ['one compaction', { compactions: good.compactions.slice(1) }, /1 compactions/],
    ['a compaction that grew', { compactions: good.compactions.map((one) => ({ ...one, after: 50_000 })) }, /smaller/],
    [
      'another reason for the fallback',
      { fallbacks: good.fallbacks.map((one) => ({ ...one, reason: 'timeout' })) },
      /rate limit/,
    ],
    ['no restore', { restores: [] }, /no hidden tool result/],
    ['other bytes', { restores: [...good.restores, { id: 'x', bytes: 1, sha256Matches: false }] }, /differs/],
    ['no plan put back', { reinjected: good.reinjected.slice(0, 2) }, /no plan/],
    ['a service that is gone', { services: ['api'] }, /orchestrator did not answer/],
  ])('names %s', (_, change, expected) => {
    expect(missingFrom({ ...good, ...change }, undisturbed, services).join()).toMatch(expected);
  });

  it.each([
    [{ killed: undefined, traces: 0 }, /no service was killed/],
    [{ killed: 'compactor', traces: 1 }, /1 tool calls show a trace/],
  ])('looks at the disturbance %j', (disturbance, expected) => {
    expect(missingFrom(good, disturbance, services).join()).toMatch(expected);
  });
});

describe('compactionsOf and reinjectedOf', () => {
  const all = [
    generation({ generation: 2 }),
    generation({ generation: 1 }),
    generation({ generation: 3, undoes: 2 }),
    generation({ generation: 0, outcome: 'failed' }),
  ];
  it('take committed passes in order', () => {
    expect(compactionsOf(all).map((one) => one.generation)).toEqual([1, 2]);
  });
  it('sum what was put back', () => {
    expect(reinjectedOf(all)).toEqual([
      { kind: 'file', count: 4 },
      { kind: 'goal', count: 2 },
    ]);
  });
});

describe('restored results', () => {
  it('end before the closing line of the tool', () => {
    const text =
      'a\n[x, whole, 3 characters.]\nb\n[x, whole, 27 characters. It was read from a.ts, which may have changed since.]';
    expect(restoredBytes(text, 'x')?.toString()).toBe('a\n[x, whole, 3 characters.]\nb');
    expect(restoredBytes('only a part\n[x, characters 0 to 11 of 50; go on with offset 11]', 'x')).toBeUndefined();
  });
  it.each([
    ['{"id":"a"}', 'a'],
    ['{"id":7}', undefined],
    ['{"id":', undefined],
  ])('are asked for by %s', (json, id) => expect(askedId(json)).toBe(id));
});

it('counts seconds with one digit', () => expect(secondsBetween(1_000, 61_249)).toBe(60.2));
