import { Random } from '../conformance/random';
import { TokenCounter } from '../tokens/bpe.cjs';
import { inflate } from './estimate';
import bits from './single-tokens.json';
import { estimateText } from './text-estimate';

const counter = new TokenCounter();
const random = new Random(7);
const many = (count: number, of: (i: number) => string, join = '\n'): string =>
  Array.from({ length: count }, (_, i) => of(i)).join(join);
const letters = (alphabet: string, count: number): string =>
  many(count, () => alphabet[random.whole(0, alphabet.length - 1)] ?? '', '');
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

const prose =
  'The compactor reads the transcript once, decides what stays, and writes down where everything else can be found again. ' +
  'Nothing is deleted; what the model no longer sees can be brought back whenever it asks for it by name. ';
const code = `export async function load(path: string): Promise<Config> {
  const text = await readFile(path, 'utf8');
  const parsed = schema.safeParse(parse(text));
  if (!parsed.success) throw new ConfigError(path, parsed.error.issues);
  return parsed.data;
}
`;

const samples: Record<string, string> = {
  prose: prose.repeat(20),
  'German prose':
    'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt. '.repeat(20),
  code: code.repeat(20),
  Python: 'def fib(n):\n    if n < 2:\n        return n\n    return fib(n - 1) + fib(n - 2)\n\n'.repeat(20),
  JSON: JSON.stringify(
    many(200, (i) => `${i}`, ',')
      .split(',')
      .map((id) => ({ id, name: `user${id}`, score: random.next(), tags: ['a', 'b'] })),
  ),
  'indented JSON': JSON.stringify(
    many(100, (i) => `${i}`, ',')
      .split(',')
      .map((id) => ({ id, name: `user${id}`, ok: true })),
    null,
    2,
  ),
  CSV: many(300, (i) => `${i},2026-03-1${i % 9},${(random.next() * 1000).toFixed(2)},green,${random.whole(0, 999_999)}`),
  'CSV of words': many(300, (i) => `${i},Smith,London,${random.whole(0, 99)}`),
  logs: many(
    200,
    (i) =>
      `2026-05-01T12:00:${10 + (i % 50)}.${100 + i}Z INFO [worker-${i % 8}] id=${random.whole(0, 1e9).toString(16)} status=200 took=${i}ms`,
  ),
  syslog: many(
    200,
    (i) => `May 11 12:01:1${i % 9} host sshd[${1000 + i}]: Failed password for admin from 192.168.${i}.7 port ${40_000 + i} ssh2`,
  ),
  hex: letters('0123456789abcdef', 10_000),
  'lines of hashes': many(200, () => letters('0123456789abcdef', 64)),
  UUIDs: many(200, () => [8, 4, 4, 4, 12].map((n) => letters('0123456789abcdef', n)).join('-')),
  base64: letters(base64, 20_000),
  'base64 in lines': many(200, () => letters(base64, 76)),
  Chinese:
    '人工智能是计算机科学的一个分支，它企图了解智能的实质，并生产出一种新的能以人类智能相似的方式做出反应的智能机器。'.repeat(20),
  'Chinese instructions':
    '请帮我修改这个文件里的函数，让它在输入为空的时候返回默认值，并且添加单元测试。运行测试之后，如果出现错误，请告诉我原因。'.repeat(
      20,
    ),
  'rare Han characters': many(4_000, () => String.fromCharCode(random.whole(0x4e00, 0x9fa5)), ''),
  Japanese:
    '吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた。'.repeat(
      20,
    ),
  Korean: '대한민국의 국민이 되는 요건은 법률로 정한다. 테스트를 실행하고 결과를 알려주세요. '.repeat(20),
  Russian: 'Все люди рождаются свободными и равными в своем достоинстве и правах. '.repeat(20),
  'mixed emoji': many(1_000, () => ['😀', '🎉', '🔥', '❤️', '👍', '🚀', '👨‍👩‍👧‍👦', '🏳️‍🌈', '🇩🇪', '👩🏽‍💻'][random.whole(0, 9)] ?? '', ''),
  'all emoji': many(2_000, () => String.fromCodePoint(random.whole(0x1f600, 0x1f64f)), ''),
  digits: letters('0123456789', 10_000),
};

describe('the inflated estimate stays between 0.95 and 1.6 of the tokenizer', () => {
  test.each(Object.entries(samples))('%s', (_kind, text) => {
    const ratio = inflate(estimateText(text)) / counter.count(text);
    expect({ ratio, inside: ratio >= 0.95 && ratio <= 1.6 }).toEqual({ ratio, inside: true });
  });
});

test('plain prose and code weigh a quarter of a token per character, by integer division, at least 1', () => {
  const texts = ['', 'a', 'Four', 'The build fails.', prose, code];
  expect(texts.map(estimateText)).toEqual(texts.map((text) => Math.max(1, Math.floor(text.length / 4))));
});

test('a dense part is seen inside a plain text', () => {
  const blob = letters(base64, 4_000);
  const whole = estimateText(`${prose.repeat(20)}${blob}${prose.repeat(20)}`);
  expect(whole).toBeGreaterThan(estimateText(prose.repeat(40)) + 2_000);
});

test('1 MB of anything is counted well under a second', () => {
  for (const text of ['a'.repeat(1e6), ' '.repeat(1e6), letters('{}[]":,', 10_000).repeat(100), '😀'.repeat(500_000)]) {
    const started = process.cpuUsage();
    estimateText(text);
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(0.5);
  }
});

test('the tables of single-token characters are those of the tokenizer', () => {
  const bitsOf = (first: number, last: number): string => {
    const table = Buffer.alloc(Math.ceil((last - first + 1) / 8));
    for (let code = first; code <= last; code++) {
      const at = code - first;
      if (counter.count(String.fromCodePoint(code)) === 1) table[at >> 3] = (table[at >> 3] ?? 0) | (1 << (at & 7));
    }
    return table.toString('base64');
  };
  expect(bits).toEqual({ han: bitsOf(0x4e00, 0x9fff), hangul: bitsOf(0xac00, 0xd7a3) });
});
