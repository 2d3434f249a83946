import { tool } from '@nightshift/contracts';
import { wavesOf } from './waves';

const read = { place: 'runner', effect: tool.Effect.READ_ONLY } as const;
const write = { place: 'runner', effect: tool.Effect.KEYED } as const;
const run = { place: 'runner', effect: tool.Effect.EFFECTFUL } as const;
const plan = { place: 'state', effect: tool.Effect.READ_ONLY } as const;

describe('waves of one turn', () => {
  it.each([
    ['nothing runs in no wave', [], []],
    ['neighbours that only read run together', [read, read, read], [0, 0, 0]],
    ['a write waits for the reads before it, and reads after it wait for the write', [read, write, read, read], [0, 1, 2, 2]],
    ['two effects never run together', [write, write, run], [0, 1, 2]],
    ['state tools run together, in order, apart from the runner', [plan, plan, read, plan], [0, 0, 1, 2]],
  ])('%s', (_title, calls, waves) => {
    expect(wavesOf(calls)).toEqual(waves);
  });
});
