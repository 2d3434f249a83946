import { replaceExactly } from './edit-file';

describe('replacing by exact match', () => {
  it('replaces the one place, also with characters that replacement patterns would interpret', () => {
    expect(replaceExactly('a b c', 'b', "$& $' $1", false, 'f')).toEqual({ text: "a $& $' $1 c", count: 1 });
  });

  it('replaces all only when told to', () => {
    expect(replaceExactly('x x x', 'x', 'y', true, 'f')).toEqual({ text: 'y y y', count: 3 });
    expect(() => replaceExactly('x\nx\nx', 'x', 'y', false, 'f')).toThrow(
      'f: old_text occurs 3 times (lines 1, 2, 3); give more of its surroundings',
    );
  });

  it.each([
    ['nothing like it', 'a\nb\n', 'zzz', /old_text does not occur$/],
    [
      'other white space',
      '\tif (x) {\n',
      '  if (x) {\n',
      /line 1 is like its first line, but white space or what follows differs$/,
    ],
    ['CRLF line ends', 'a\r\nb\r\n', 'a\nb', /the file has CRLF line ends$/],
  ])('says why it does not match: %s', (_title, text, old, message) => {
    expect(() => replaceExactly(text, old, 'new', false, 'f')).toThrow(message);
  });

  it('refuses an edit that changes nothing', () => {
    expect(() => replaceExactly('a', 'a', 'a', false, 'f')).toThrow('are the same');
  });
});
