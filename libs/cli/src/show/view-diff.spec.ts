import type { MessageJson, ViewJson } from '../client/shapes';
import { diffViews, viewDiffText } from './view-diff';

const said = (text: string): MessageJson => ({ user: { origin: 'user', parts: [{ text }] } }) as MessageJson;
const view = (generation: number, ...texts: string[]): ViewJson => ({
  generation,
  tokens: 100 * texts.length,
  view: { system: 's', tools: [], messages: texts.map(said) },
});
const marks = { kept: ' ', removed: '-', added: '+' };
const seen = (before: string, after: string): string =>
  diffViews(view(0, ...before), view(1, ...after))
    .map(({ fate, lines }) => `${marks[fate]}${lines[1]?.trim()}`)
    .join('');

describe('what two views have in common', () => {
  it.each([
    ['nothing changed', 'abc', 'abc', ' a b c'],
    ['a summary took the place of the oldest', 'abcde', 'Sde', '-a-b-c+S d e'],
    ['one in the middle became a placeholder', 'abc', 'aBc', ' a-b+B c'],
    ['several became placeholders, the rest stays in order', 'abcdef', 'aBcDefg', ' a-b+B c-d+D e f+g'],
    ['the view was empty', '', 'ab', '+a+b'],
    ['everything went', 'ab', '', '-a-b'],
    ['the same text twice', 'aab', 'ab', ' a-a b'],
  ])('%s', (_title, before, after, expected) => {
    expect(seen(before, after)).toBe(expected);
  });

  it('reads like a patch, and counts what both have', () => {
    expect(viewDiffText(view(1, 'a', 'b', 'c'), view(2, 'a', 'B', 'c'))).toEqual([
      '--- generation 1, 300 tokens',
      '+++ generation 2, 300 tokens',
      '  1 message in both',
      '- user (user)',
      '-   b',
      '+ user (user)',
      '+   B',
      '  1 message in both',
    ]);
  });
});
