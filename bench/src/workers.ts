import { startScaleStack, type ScaleStack } from '@nightshift/testing';
import { goal, report, runToEnd } from './report';

/**
 * How compactors scale: passes per second of 1, 2, 4 and 8 processes with one slot each, on transcripts of 100 000 tokens and
 * a model that takes five seconds. Beside it where the machine saturates, with every process at several slots.
 */
const latencyMs = 5_000;
const processes = [1, 2, 4, 8];
/** Passes that every slot runs one after the other: with fewer, start and end of a burst are what is measured. */
const waves = 6;
/** Slots of each of the eight processes, beyond one. */
const fullSlots = [2, 4, 8];
const longest = 20 * 60_000;

/** @returns passes per second */
async function rate(scale: ScaleStack, count: number, slots: number): Promise<number> {
  const name = `${count}x${slots}`;
  await scale.startWorkers(count, slots);
  // The first pass of a process runs code that is not compiled yet.
  await (await scale.queueBurst(`warm-${name}`, count * slots)).done(longest);
  const passes = count * slots * waves;
  const burst = await scale.queueBurst(name, passes);
  const seconds = await burst.done(longest);
  const finished = burst.finished();
  const summarized = finished.filter(({ summaryCalls }) => summaryCalls === 1).length;
  if (finished.length !== passes || summarized !== passes)
    throw new Error(`${finished.length} of ${passes} passes ended, ${summarized} by a summary of the model`);
  await scale.stopWorkers();
  return passes / seconds;
}

async function main(): Promise<void> {
  const scale = await startScaleStack(latencyMs, { rounds: 105, window: 200_000, measured: 105_000 });
  try {
    const found: { count: number; perSecond: number }[] = [];
    for (const count of processes) found.push({ count, perSecond: await rate(scale, count, 1) });
    const one = found[0]?.perSecond ?? NaN;
    const most = Math.max(...processes);
    const full: { inFlight: number; perSecond: number }[] = [];
    for (const slots of fullSlots) full.push({ inFlight: most * slots, perSecond: await rate(scale, most, slots) });
    const best = full.reduce((high, each) => (each.perSecond > high.perSecond ? each : high));
    report(
      'workers',
      {
        'model latency, ms': latencyMs,
        'tokens of a transcript': 105_000,
        ...Object.fromEntries(found.map(({ count, perSecond }) => [`${count} processes x 1 slot, passes per second`, perSecond])),
        ...Object.fromEntries(full.map((each) => [`${each.inFlight} passes in flight, passes per second`, each.perSecond])),
        'saturation, passes per second': best.perSecond,
        'saturation, passes in flight': best.inFlight,
        'saturation, share of linear': best.perSecond / (one * best.inFlight),
      },
      Object.fromEntries(
        found
          .filter(({ count }) => count > 1)
          .map(({ count, perSecond }) => [`${count} processes, share of linear`, goal(perSecond / (one * count), '>=', 0.9)]),
      ),
    );
  } finally {
    await scale.stop();
  }
}

runToEnd(main);
