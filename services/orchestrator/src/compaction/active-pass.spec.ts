import { activePass } from './active-pass';

const pass = (generation: number, undoes = 0): { generation: number; undoes: number } => ({ generation, undoes });

describe('the pass in effect', () => {
  it.each([
    ['none before the first', [], 0, 0],
    ['the newest', [pass(1), pass(2)], 2, 2],
    ['the one before, after an undo', [pass(1), pass(2), pass(3, 2)], 3, 1],
    ['none, after both were undone', [pass(1), pass(2), pass(3, 2), pass(4, 1)], 4, 0],
    ['a pass on top of an undo', [pass(1), pass(2, 1), pass(3)], 3, 3],
    ['none, after a pass on top of an undo was undone', [pass(1), pass(2, 1), pass(3), pass(4, 3)], 4, 0],
  ])('%s', (_title, passes, generation, active) => {
    expect(activePass(passes, generation)).toBe(active);
  });
});
