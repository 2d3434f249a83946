import { integer, loadConfig } from '@nightshift/config';
import { compaction } from '@nightshift/contracts';
import { eventually, startScaleStack, type ScaleStack } from '@nightshift/testing';

/**
 * Compactors scale alone. A pass waits for its model, so that twice the workers finish twice the passes; on a machine with
 * few cores that only shows while all passes together need little of it, hence a model that takes seconds.
 */
const { SCALE_PASSES: passes, SCALE_LATENCY_MS: latencyMs } = loadConfig({
  /** A multiple of 8 workers × slots, or the last wave is half empty and the ratio says nothing. */
  SCALE_PASSES: integer({ min: 40, max: 2_000 }).default(200),
  SCALE_LATENCY_MS: integer({ min: 1_000, max: 30_000 }).default(5_000),
});
const slots = 5;
/** At least four waves: with fewer, the start and the end of a burst are what is measured. */
const counts = [1, 2, 4, 8].filter((count) => passes >= 4 * count * slots);
const wanted = 0.9;
const fullBurst = 200;
jest.setTimeout(30 * 60_000);

describe('compactors', () => {
  let scale: ScaleStack;
  beforeAll(async () => {
    scale = await startScaleStack(latencyMs);
  });
  afterAll(() => scale?.stop());
  // What a failed test leaves running would take the next one's passes.
  afterEach(() => scale?.stopWorkers());

  /** Every pass ended once, made its view smaller, and by a summary. */
  const expectOnce = (finished: readonly compaction.Finished[], count: number): void => {
    expect(finished.length).toBe(count);
    expect(new Set(finished.map(({ taskId }) => taskId)).size).toBe(count);
    const odd = finished.filter(({ outcome, summaryCalls }) => outcome !== compaction.PassOutcome.REDUCED || summaryCalls !== 1);
    expect(odd.slice(0, 1).map(({ reason, tiers }) => ({ reason, tiers }))).toEqual([]);
  };

  it(`finish a burst of ${passes} passes in proportion to their number`, async () => {
    const rows: { workers: number; seconds: number; perSecond: number; ofLinear: number }[] = [];
    for (const count of counts) {
      await scale.startWorkers(count, slots);
      // The first pass of a process runs code that is not compiled yet: eight of them at once on two cores would be measured.
      await (await scale.queueBurst(`warm-${count}`, count * slots)).done(120_000);
      const burst = await scale.queueBurst(`burst-${count}`, passes);
      const seconds = await burst.done(20 * 60_000);
      expectOnce(burst.finished(), passes);
      await scale.stopWorkers();
      const perSecond = passes / seconds;
      rows.push({ workers: count, seconds, perSecond, ofLinear: perSecond / ((rows[0]?.perSecond ?? perSecond) * count) });
    }
    console.log(
      rows
        .map(
          ({ workers, seconds, perSecond, ofLinear }) =>
            `${workers} compactors: ${passes} passes in ${seconds.toFixed(1)} s, ${perSecond.toFixed(2)}/s, ${(ofLinear * 100).toFixed(0)} % of linear`,
        )
        .join('\n'),
    );
    // A small burst (--quick) is for machines that are busy with other things: it shows its figures and proves the rest.
    if (passes >= fullBurst) expect(rows.filter(({ ofLinear }) => ofLinear < wanted)).toEqual([]);
  });

  it('lose and repeat nothing while workers come and are killed in the middle of a burst', async () => {
    const count = 12 * slots;
    const first = await scale.startWorkers(2, slots);
    const burst = await scale.queueBurst('disturbed', count);
    await eventually(() => burst.ended() >= slots, { timeoutMs: 120_000 });
    await scale.startWorkers(2, slots);
    await eventually(() => burst.ended() >= 3 * slots, { timeoutMs: 120_000 });
    const victim = first[0];
    victim?.child.signal('SIGKILL');
    await victim?.child.exited;
    await eventually(() => burst.ended() >= 6 * slots, { timeoutMs: 120_000 });
    // One leaves in good order.
    await first[1]?.child.stop(10_000);
    await burst.done(300_000);
    expectOnce(burst.finished(), count);
    const claims = burst.claims();
    const again = claims.filter((workers) => workers.length > 1);
    expect(claims.filter((workers) => workers.length === 0)).toEqual([]);
    // Only what the two leaving workers held was begun again.
    expect(again.length).toBeLessThanOrEqual(2 * slots);
    for (const workers of again) expect([first[0]?.name, first[1]?.name]).toContain(workers[0]);
    expect(await scale.jsz()).toEqual({ pending: 0, inFlight: 0 });
  });

  it('show in their metrics what NATS itself says about the queue', async () => {
    const count = 4 * slots;
    const workers = await scale.startWorkers(1, slots);
    const burst = await scale.queueBurst('counted', count);
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${workers[0]?.operationsUrl}/metrics`)).text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`nightshift_${name}{`) && line.includes('"compactionRun"'))
          ?.split(' ')[1],
      );
    };
    const seen = await eventually(async () => {
      const before = await scale.jsz();
      const shown = { pending: await metric('queue_pending'), inFlight: await metric('queue_in_flight') };
      const after = await scale.jsz();
      // Between the two looks nothing may have moved.
      const still = before.pending === after.pending && before.inFlight === after.inFlight;
      return still && before.inFlight > 0 && before.pending > 0 ? { before, shown } : undefined;
    });
    expect(seen.shown).toEqual(seen.before);
    expect(seen.before.inFlight).toBe(slots);
    await burst.done(120_000);
    await eventually(async () => (await scale.jsz()).inFlight === 0);
    expect({ pending: await metric('queue_pending'), inFlight: await metric('queue_in_flight') }).toEqual({
      pending: 0,
      inFlight: 0,
    });
  });
});
