import { Slots } from './slots';

interface Work {
  run: () => Promise<void>;
  end: () => void;
}
function work(log: string[], name: string): Work {
  let end!: () => void;
  const done = new Promise<void>((resolve) => (end = resolve));
  return {
    run: () => {
      log.push(name);
      return done;
    },
    end,
  };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('Slots', () => {
  it('runs up to the limit, queues up to the second limit, in order, and refuses the rest', async () => {
    const log: string[] = [];
    const freed: number[] = [];
    const slots = new Slots(1, 2, () => freed.push(slots.running));
    const all = ['a', 'b', 'c', 'd'].map((name) => work(log, name));
    expect(all.map(({ run }) => slots.offer(run))).toEqual([true, true, true, false]);
    expect([log, slots.running, slots.waiting, slots.free]).toEqual([['a'], 1, 2, 0]);
    all[0]!.end();
    await turn();
    expect([log, freed]).toEqual([['a', 'b'], []]);
    all[1]!.end();
    all[2]!.end();
    await slots.idle();
    expect([log, slots.running, freed]).toEqual([['a', 'b', 'c'], 0, [0]]);
  });

  it('is idle from the start', async () => {
    await new Slots(1, 0).idle();
  });
});
