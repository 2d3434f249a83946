import { flatOut, oneByOne, streamOnce, type StreamTimes, type Way } from './gateway/load';
import { openStage, type Stage } from './gateway/stage';
import { goal, median, percentile, report, runToEnd } from './report';

/**
 * What the gateway costs, as ratios against a bare Node pass-through proxy in the same run. Rounds alternate between the
 * ways, and medians of rounds are compared, since a shared machine changes its speed from second to second.
 */
const rounds = 7;
const callsPerRound = 200;
const burstMs = 1_500;
const callers = 32;
const streams = 16;

interface Figures {
  p50: number[];
  rps: number[];
}

async function measure(ways: readonly Way[]): Promise<Map<string, Figures>> {
  const found = new Map<string, Figures>(ways.map((way) => [way.name, { p50: [], rps: [] }]));
  for (const way of ways) {
    await oneByOne(way, 300);
    await flatOut(way, callers, 1_000);
  }
  for (let round = 0; round < rounds; round++) {
    for (const way of ways) {
      found.get(way.name)?.p50.push(median(await oneByOne(way, callsPerRound)));
      found.get(way.name)?.rps.push(await flatOut(way, callers, burstMs));
    }
  }
  return found;
}

interface Streams {
  first: number[];
  gaps: number[];
}

async function measureStreams(stage: Stage): Promise<{ bare: Streams; native: Streams }> {
  const body = stage.body(true);
  const result = { bare: { first: [], gaps: [] } as Streams, native: { first: [], gaps: [] } as Streams };
  const several = (url: string, headers: Readonly<Record<string, string>>): Promise<StreamTimes[]> =>
    Promise.all(Array.from({ length: streams }, () => streamOnce(url, headers, body)));
  await several(stage.bareUrl, {});
  await several(stage.internalUrl, stage.nativeHeaders);
  for (let round = 0; round < rounds; round++) {
    for (const [name, url, headers] of [
      ['bare', stage.bareUrl, {}],
      ['native', stage.internalUrl, stage.nativeHeaders],
    ] as const) {
      for (const one of await several(url, headers)) {
        result[name].first.push(one.firstMs);
        result[name].gaps.push(...one.gapsMs);
      }
    }
  }
  return result;
}

async function main(): Promise<void> {
  const stage = await openStage();
  try {
    const { bare, native, translated, overNats, busAlone } = stage;
    const found = await measure([bare, native, translated, overNats, busAlone]);
    const p50 = (way: Way): number => median(found.get(way.name)?.p50 ?? []);
    const rps = (way: Way): number => median(found.get(way.name)?.rps ?? []);
    // Per round, so that a slow second hits both sides of a difference.
    const added = (way: Way): number =>
      median((found.get(way.name)?.p50 ?? []).map((value, round) => value - (found.get(bare.name)?.p50[round] ?? NaN)));
    const share = (way: Way): number =>
      median((found.get(way.name)?.rps ?? []).map((value, round) => value / (found.get(bare.name)?.rps[round] ?? NaN)));
    const streamed = await measureStreams(stage);
    const addedFirst = percentile(streamed.native.first, 0.99) - percentile(streamed.bare.first, 0.99);
    const addedGap = percentile(streamed.native.gaps, 0.99) - percentile(streamed.bare.gaps, 0.99);
    report(
      'gateway',
      {
        'processes pinned to cores': stage.pinned ? 'yes' : 'no',
        'bare proxy, p50 ms at 1': p50(bare),
        [`bare proxy, requests/s at ${callers}`]: rps(bare),
        'internal route, p50 ms at 1': p50(native),
        [`internal route, requests/s at ${callers}`]: rps(native),
        'internal route translated, p50 ms at 1': p50(translated),
        [`internal route translated, requests/s at ${callers}`]: rps(translated),
        'llm.complete, p50 ms at 1': p50(overNats),
        [`llm.complete, requests/s at ${callers}`]: rps(overNats),
        'part: pass-through with breaker, clocks, usage, ms': added(native),
        'part: translation and SDK, ms': p50(translated) - p50(native),
        'part: a round trip on the bus, ms': p50(busAlone),
        'part: ledger (claim and outcome) and the rest, ms': p50(overNats) - p50(translated) - p50(busAlone),
        'bare proxy, first token p99 ms': percentile(streamed.bare.first, 0.99),
        'internal route, first token p99 ms': percentile(streamed.native.first, 0.99),
        'bare proxy, between frames p99 ms': percentile(streamed.bare.gaps, 0.99),
        'internal route, between frames p99 ms': percentile(streamed.native.gaps, 0.99),
      },
      {
        'internal route: added p50 ms at 1': goal(added(native), '<=', 0.5),
        [`internal route: share of the bare proxy at ${callers}`]: goal(share(native), '>=', 0.4),
        'llm.complete: added p50 ms at 1': goal(added(overNats), '<=', 1.2),
        [`llm.complete: share of the bare proxy at ${callers}`]: goal(share(overNats), '>=', 0.2),
        'streamed: added first token p99 ms': goal(addedFirst, '<=', 5),
        'streamed: added between frames p99 ms': goal(addedGap, '<=', 3),
      },
    );
  } finally {
    await stage.stop();
  }
}

runToEnd(main);
