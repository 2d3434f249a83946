import { Batcher } from './batcher';

function gated(options: { size?: number; width?: number; fail?: string } = {}): {
  batcher: Batcher<string, string>;
  batches: string[][];
  open: () => Promise<void>;
} {
  const batches: string[][] = [];
  let gates: (() => void)[] = [];
  const batcher = new Batcher<string, string>({
    size: options.size ?? 4,
    width: options.width ?? 1,
    keyOf: (item) => item[0] ?? '',
    run: async (items) => {
      batches.push([...items]);
      await new Promise<void>((resolve) => gates.push(resolve));
      if (options.fail !== undefined && items.includes(options.fail)) throw new Error(`bad ${options.fail}`);
      return items.map((item) => item.toUpperCase());
    },
  });
  const open = async (): Promise<void> => {
    const now = gates;
    gates = [];
    for (const gate of now) gate();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { batcher, batches, open };
}

describe('Batcher', () => {
  it('runs the first item at once and alone, and gathers what comes meanwhile', async () => {
    const { batcher, batches, open } = gated();
    const all = ['a', 'b', 'c'].map((item) => batcher.add(item));
    expect(batches).toEqual([['a']]);
    await open();
    await open();
    expect(await Promise.all(all)).toEqual(['A', 'B', 'C']);
    expect(batches).toEqual([['a'], ['b', 'c']]);
  });

  it('never puts two items of one key into a batch, nor more than fit', async () => {
    const { batcher, batches, open } = gated({ size: 2 });
    const all = ['a', 'b1', 'b2', 'c', 'd'].map((item) => batcher.add(item));
    for (let round = 0; round < 4; round += 1) await open();
    await Promise.all(all);
    expect(batches).toEqual([['a'], ['b1', 'c'], ['b2', 'd']]);
  });

  it('fails only the item that is at fault', async () => {
    const { batcher, open } = gated({ fail: 'c' });
    const all = ['a', 'b', 'c', 'd'].map((item) => batcher.add(item));
    const settled = Promise.allSettled(all);
    for (let round = 0; round < 6; round += 1) await open();
    expect((await settled).map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as Error).message))).toEqual([
      'A',
      'B',
      'bad c',
      'D',
    ]);
  });
});
