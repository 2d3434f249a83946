import { cutLines } from './read-file';

const five = 'a\nb\nc\nd\ne\n';

describe('a range of lines', () => {
  it.each([
    ['everything fits: no note', five, 1, 99, 100, five, '', true],
    ['a range', five, 2, 2, 100, 'b\nc\n', '[lines 2 to 3 of 5; go on with offset 4]', false],
    ['the last lines', five, 4, 99, 100, 'd\ne\n', '[lines 4 to 5 of 5]', false],
    ['cut at whole lines', five, 1, 99, 5, 'a\nb\n', '[lines 1 to 2 of 5; go on with offset 3]', false],
    [
      'a line longer than a page',
      'x'.repeat(50) + '\ny',
      1,
      99,
      10,
      'x'.repeat(10),
      '[line 1 of 2 has 51 characters, 10 are shown; go on with offset 2]',
      false,
    ],
    ['behind the end', five, 9, 1, 100, '', '[the file has 5 lines; line 9 does not exist]', false],
    ['no line feed at the end', 'a\nb', 1, 99, 100, 'a\nb', '', true],
    ['an empty file', '', 1, 99, 100, '', '[the file is empty]', true],
    ['exactly the page', five, 1, 99, 10, five, '', true],
    [
      'a surrogate pair at the edge of the page is not cut',
      `${'x'.repeat(9)}😀${'y'.repeat(9)}`,
      1,
      99,
      10,
      'x'.repeat(9),
      '[line 1 of 1 has 20 characters, 10 are shown]',
      false,
    ],
  ])('%s', (_title, text, offset, limit, chars, shown, note, whole) => {
    expect(cutLines(text, offset, limit, chars)).toEqual({ text: shown, note, whole });
  });
});
