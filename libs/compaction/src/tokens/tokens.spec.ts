import { get_encoding } from 'tiktoken';
import { Random } from '../conformance/random';
import { TokenCounter } from './bpe.cjs';
import { closeTokenThread, confirmTokens } from './confirm';

const counter = new TokenCounter();
afterAll(closeTokenThread);

test('counts exactly what the reference implementation counts', () => {
  const oracle = get_encoding('o200k_base');
  const random = new Random(11);
  const alphabet = [...'abcdefgHIJ 0123456789\n\t.,;:{}()"\'_-/\\ñé中文字日本語한국어русский👍🏽👩‍💻\u0000\ufeff\u00a0\u2028'];
  for (let i = 0; i < 1_500; i++) {
    const text = Array.from({ length: random.whole(0, 200) }, () => alphabet[random.whole(0, alphabet.length - 1)]).join('');
    expect({ text, tokens: counter.count(text) }).toEqual({ text, tokens: oracle.encode_ordinary(text.toWellFormed()).length });
  }
  oracle.free();
});

test.each([
  ['letter', 'a'],
  ['capital', 'A'],
  ['blank', ' '],
  ['newline', '\n'],
  ['dash', '-'],
  ['emoji', '😀'],
])('a %s a hundred thousand times is no denial of service', (_name, piece) => {
  const started = process.cpuUsage();
  expect(counter.count(piece.repeat(100_000))).toBeGreaterThan(0);
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(1);
});

test('special-token text is ordinary text, and half a surrogate pair is counted as its replacement', () => {
  expect(counter.count('<|endoftext|>')).toBeGreaterThan(1);
  expect(counter.count('\ud83d')).toBe(counter.count('\ufffd'));
});

test('the worker thread counts the same, for many callers at once, and starts again after it ended', async () => {
  const texts = ['hello world', '中文', 'a'.repeat(10_000)];
  const expected = texts.reduce((sum, text) => sum + counter.count(text), 0);
  expect(await Promise.all([confirmTokens(texts), confirmTokens(texts), confirmTokens([])])).toEqual([expected, expected, 0]);
  await closeTokenThread();
  expect(await confirmTokens(texts)).toBe(expected);
});
