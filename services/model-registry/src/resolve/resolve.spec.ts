import type { Candidate, LearnedLimit } from './candidates';
import { resolve } from './resolve';

const now = 1_000_000_000;
const at = now - 1_000;
const team = (window: number): Candidate => ({ source: 'team', window, atMs: at });
const operator = (window: number): Candidate => ({ source: 'operator', window, atMs: at });
const served = (window: number, more: Partial<Candidate> = {}): Candidate => ({
  source: 'served',
  window,
  atMs: at,
  staleAfterMs: 90_000,
  ...more,
});
const list = (window: number, more: Partial<Candidate> = {}): Candidate => ({ source: 'list', window, atMs: at, ...more });
const catalogue = (window: number, more: Partial<Candidate> = {}): Candidate => ({
  source: 'catalogue',
  window,
  atMs: 0,
  ...more,
});
const family = (window: number): Candidate => ({ source: 'family', window, atMs: 0 });
const learned = (tokens: number, more: Partial<LearnedLimit> = {}): LearnedLimit => ({
  kind: 'window',
  tokens,
  exactness: 'exact',
  sightings: 1,
  atMs: at,
  ...more,
});

interface Example {
  title: string;
  candidates?: Candidate[];
  learned?: LearnedLimit[];
  window: number;
  source: string;
  more?: object;
  without?: 'inputMax';
}

const examples: Example[] = [
  {
    title: 'a team override beats all',
    candidates: [family(1), catalogue(2), list(3), served(4), operator(5), team(6)],
    window: 6,
    source: 'team',
  },
  { title: 'the operator beats the server', candidates: [served(4_096), operator(8_192)], window: 8_192, source: 'operator' },
  { title: 'what is served beats the list', candidates: [list(131_072), served(32_768)], window: 32_768, source: 'served' },
  { title: 'the list beats the catalogue', candidates: [catalogue(200_000), list(1_000_000)], window: 1_000_000, source: 'list' },
  {
    title: 'the catalogue beats the family',
    candidates: [family(128_000), catalogue(200_000)],
    window: 200_000,
    source: 'catalogue',
  },
  { title: 'the family beats nothing', candidates: [family(128_000)], window: 128_000, source: 'family' },
  { title: 'nothing is 32 000 and says so', window: 32_000, source: 'unknown', more: { unknown: true } },
  {
    title: 'a trained maximum is never a window',
    candidates: [{ source: 'served', trainedMax: 40_960, atMs: at }],
    window: 32_000,
    source: 'unknown',
    more: { unknown: true, trainedMax: 40_960 },
  },
  {
    title: 'a learned limit caps the catalogue',
    candidates: [catalogue(200_000)],
    learned: [learned(128_000)],
    window: 128_000,
    source: 'learned',
  },
  {
    title: 'a learned limit caps the override included',
    candidates: [operator(200_000)],
    learned: [learned(32_768)],
    window: 32_768,
    source: 'learned',
  },
  {
    title: 'a learned limit raises nothing',
    candidates: [operator(16_384)],
    learned: [learned(32_768)],
    window: 16_384,
    source: 'operator',
  },
  {
    title: 'a learned limit makes an unknown window known',
    learned: [learned(131_072)],
    window: 131_072,
    source: 'learned',
    more: { unknown: false },
  },
  {
    title: 'a learned input maximum caps the input only',
    candidates: [catalogue(400_000, { outputMax: 128_000 })],
    learned: [learned(272_000, { kind: 'inputMax' })],
    window: 400_000,
    source: 'catalogue',
    more: { inputMax: 272_000, outputMax: 128_000 },
  },
  {
    title: 'an output cap is never stored as the window',
    candidates: [catalogue(131_072, { outputMax: 131_072 })],
    learned: [learned(16_384, { kind: 'outputMax', sightings: 2 })],
    window: 131_072,
    source: 'catalogue',
    more: { outputMax: 16_384 },
  },
  {
    title: 'more than 4 times below the catalogue waits',
    candidates: [catalogue(1_048_576)],
    learned: [learned(65_536)],
    window: 1_048_576,
    source: 'catalogue',
  },
  {
    title: 'more than 4 times below the catalogue counts at the second sighting',
    candidates: [catalogue(1_048_576)],
    learned: [learned(65_536, { sightings: 2 })],
    window: 65_536,
    source: 'learned',
  },
  {
    title: 'a router that declares 200K and serves 32K is believed at once: its own list is no catalogue',
    candidates: [list(200_000)],
    learned: [learned(32_768, { against: 200_000 })],
    window: 32_768,
    source: 'learned',
  },
  {
    title: 'a router that goes on declaring 200K disproves nothing',
    candidates: [list(200_000, { atMs: now })],
    learned: [learned(32_768, { against: 200_000 })],
    window: 32_768,
    source: 'learned',
  },
  {
    title: 'a server that goes on saying the same disproves nothing',
    candidates: [served(165_120, { atMs: now })],
    learned: [learned(4_096, { against: 165_120 })],
    window: 4_096,
    source: 'learned',
  },
  {
    title: 'a server started anew with a larger window disproves the limit',
    candidates: [served(65_536, { atMs: now })],
    learned: [learned(32_768, { against: 32_768 })],
    window: 65_536,
    source: 'served',
  },
  {
    title: 'a larger request that was accepted disproves the limit',
    candidates: [catalogue(200_000)],
    learned: [learned(128_000, { acceptedTokens: 150_000 })],
    window: 200_000,
    source: 'catalogue',
  },
  {
    title: 'of two stated limits the newer one holds',
    candidates: [catalogue(200_000)],
    learned: [learned(65_536, { atMs: at - 5 }), learned(131_072)],
    window: 131_072,
    source: 'learned',
  },
  {
    title: 'a cut answer holds until the server says what it serves',
    candidates: [served(4_096, { atMs: now })],
    learned: [learned(2_050, { exactness: 'cut' })],
    window: 4_096,
    source: 'served',
  },
  {
    title: 'input and output maximum come from whoever states them',
    candidates: [list(400_000), catalogue(400_000, { inputMax: 272_000, outputMax: 128_000 })],
    window: 400_000,
    source: 'list',
    more: { inputMax: 272_000, outputMax: 128_000 },
  },
  {
    title: 'an overridden window takes no input maximum from below',
    candidates: [operator(600_000), catalogue(400_000, { inputMax: 272_000, outputMax: 128_000 })],
    window: 600_000,
    source: 'operator',
    more: { outputMax: 128_000 },
    without: 'inputMax',
  },
  {
    title: 'no maximum is above the window',
    candidates: [operator(16_000), catalogue(400_000, { outputMax: 128_000 })],
    window: 16_000,
    source: 'operator',
    more: { outputMax: 16_000 },
  },
  {
    title: 'an old probe keeps its window and is stale',
    candidates: [served(8_192, { atMs: now - 100_000 })],
    window: 8_192,
    source: 'served',
    more: { stale: true },
  },
];

describe('resolve', () => {
  it.each(examples)('$title', ({ candidates = [], learned: limits = [], window, source, more, without }) => {
    const resolution = resolve({ candidates, learned: limits, nowMs: now });
    expect(resolution).toMatchObject({ window, source, ...more });
    if (without) expect(resolution[without]).toBeUndefined();
  });

  it('says of every source what became of it', () => {
    const { sources } = resolve({
      candidates: [operator(200_000), catalogue(400_000), { source: 'served', trainedMax: 40_960, atMs: at, note: 'not loaded' }],
      learned: [learned(150_000), learned(1_000, { kind: 'outputMax', acceptedTokens: 2_000 })],
      nowMs: now,
    });
    expect(sources.map(({ source, fate, reason }) => [source, fate, reason])).toEqual([
      ['operator', 'capped', 'window 200000 capped by 150000 learned'],
      ['served', 'ignored', 'not loaded'],
      ['catalogue', 'lost', 'operator is stronger'],
      ['learned', 'won', 'stated by the endpoint in an error'],
      ['learned', 'ignored', 'a request of 2000 tokens was accepted since'],
    ]);
  });
});
