import { lineOfPath } from './line-of-path';

const text = `{
  "a,]}": "a \\"quoted\\" brace {[",
  "empty": {},
  "list": [
    [],
    { "x": -1.5e3, "y": [true,
      null] },
    "last"
  ]
}`;

describe('lineOfPath', () => {
  it.each([
    [[], 1],
    [['a,]}'], 2],
    [['empty'], 3],
    [['list'], 4],
    [['list', 0], 5],
    [['list', 1, 'y', 0], 6],
    [['list', 1, 'y', 1], 7],
    [['list', 2], 8],
  ])('finds %j on line %d', (path, line) => {
    expect(lineOfPath(text, path)).toBe(line);
  });

  it.each([
    ['a missing field', ['list', 1, 'z'], 6],
    ['a missing element', ['list', 9], 4],
    ['a path that goes on below a plain value', ['list', 2, 'deeper'], 8],
    ['a field of an empty object', ['empty', 'x'], 3],
  ])('names the line of what is around %s', (_title, path, line) => {
    expect(lineOfPath(text, path)).toBe(line);
  });

  // Written over several lines, every element stands where the printer put it.
  it('agrees with the printer on a list of any length', () => {
    const list = Array.from({ length: 200 }, (_, index) => ({ index, text: `line\n${index}` }));
    const printed = JSON.stringify({ list }, undefined, 1);
    const lines = printed.split('\n');
    for (const index of [0, 1, 99, 199]) {
      expect(lines[lineOfPath(printed, ['list', index, 'index']) - 1]).toBe(`   "index": ${index},`);
    }
  });
});
