import { get_encoding } from 'tiktoken';
import { Bpe } from './bpe';

describe('the tokenizer', () => {
  const bpe = new Bpe();
  const oracle = get_encoding('o200k_base');
  afterAll(() => oracle.free());

  it.each([
    ['prose', 'The quick brown fox, that is, jumps over 13 lazy dogs. '.repeat(20)],
    ['code', 'export function sum(a: number, b: number): number {\n  return a + b; // ok\n}\n\n\n\t\tdone();'],
    ['JSON', JSON.stringify({ a: [1, 22, 333], text: 'x'.repeat(200), nested: { käse: '🧀' } })],
    ['CJK and emoji', '夜間に長い作業を続ける。👩‍👩‍👧‍👦🏳️‍🌈 смешанный текст'],
    ['hex and base64', 'deadbeef'.repeat(40) + 'QUJDREVGR0g='.repeat(40)],
    ['white space and a byte order mark', ' \u00a0\ufeff \r\n\t  x   \n\n  '],
    ['text that looks like a special token', 'before <|endoftext|> after'],
    ['one long run of a letter', 'a'.repeat(3_000)],
    ['nothing', ''],
  ])('agrees with the reference on %s', (_title, text) => {
    expect(bpe.count(text)).toBe(oracle.encode(text, [], []).length);
  });

  it('takes lone surrogates as the reference takes replacement characters', () => {
    expect(bpe.count('a\ud800b')).toBe(oracle.encode('a\ufffdb', [], []).length);
  });

  it('is linear in a single long run', () => {
    const started = performance.now();
    expect(bpe.count('ab'.repeat(100_000))).toBeGreaterThan(1_000);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
