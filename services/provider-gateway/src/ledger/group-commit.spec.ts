import { NightshiftError } from '@nightshift/contracts';
import { GroupCommit } from './group-commit';

/** Batches that a store would get; `fail` decides about each. */
function store(fail: (items: string[]) => Error | undefined = () => undefined): {
  commit: GroupCommit<string, string>;
  batches: string[][];
} {
  const batches: string[][] = [];
  const perform = async (items: string[]): Promise<string[]> => {
    batches.push(items);
    await new Promise((resolve) => setImmediate(resolve));
    const error = fail(items);
    if (error) throw error;
    return items.map((item) => item.toUpperCase());
  };
  return { commit: new GroupCommit(perform, { largest: 3 }), batches };
}
const all = (commit: GroupCommit<string, string>, items: string[]): Promise<PromiseSettledResult<string>[]> =>
  Promise.allSettled(items.map((item) => commit.run(item)));

it('lets the first go alone and gathers what comes meanwhile, up to the limit', async () => {
  const { commit, batches } = store();
  const results = await all(commit, ['a', 'b', 'c', 'd', 'e']);
  expect(batches).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  expect(results.map((one) => one.status === 'fulfilled' && one.value)).toEqual(['A', 'B', 'C', 'D', 'E']);
});

it('keeps the fault of one item from the others', async () => {
  const { commit } = store((items) => (items.includes('bad') ? new Error('unsupported') : undefined));
  const results = await all(commit, ['a', 'bad', 'c']);
  expect(results.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('does not repeat a whole batch item by item while the server is away', async () => {
  const { commit, batches } = store(() => new NightshiftError('UNAVAILABLE', 'away'));
  const results = await all(commit, ['a', 'b', 'c']);
  expect(results.every((one) => one.status === 'rejected')).toBe(true);
  expect(batches).toHaveLength(2);
});
