import { cleanText, storable, storableInt } from './storable';

describe('what Postgres takes', () => {
  it.each([
    ['plain text stays as it is', 'plain', 'plain'],
    ['a whole pair stays', '😀', '😀'],
    ['NUL is replaced', 'a\u0000b', 'a\ufffdb'],
    ['half a pair is replaced', 'a\ud83d', 'a\ufffd'],
  ])('%s', (_rule, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  it('cleans at any depth, and leaves out what JSON has no word for', () => {
    expect(storable({ a: ['x\u0000'], b: { c: '\udc00', d: undefined }, e: 1 })).toEqual({
      a: ['x\ufffd'],
      b: { c: '\ufffd' },
      e: 1,
    });
  });

  it('keeps integers in range', () => {
    expect([7, 4_294_967_295].map(storableInt)).toEqual([7, 2_147_483_647]);
  });
});
