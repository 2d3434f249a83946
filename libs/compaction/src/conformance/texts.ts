import type { Random } from './random';

const words: readonly [string, ...string[]] = [
  'the',
  'file',
  'error',
  'build',
  'module',
  'retries',
  'because',
  'and',
  'server',
  'index',
  'when',
  'token',
  'fails',
  'of',
  'window',
];
const emoji: readonly [string, ...string[]] = ['😀', '🚀', '👩🏽‍💻', '🏳️‍🌈', '🇩🇪', '✅', '👨‍👩‍👧‍👦', 'é', 'Ạ̈'];
const han: readonly [string, ...string[]] = ['请修改', '测试结果', '错误', '日本語の', 'テキスト', '한국어', '窗口已满'];
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Kinds of text that break naive counters and cutters. */
export type TextKind = 'prose' | 'code' | 'json' | 'csv' | 'log' | 'hex' | 'base64' | 'emoji' | 'cjk' | 'line';

export const textKinds: readonly [TextKind, ...TextKind[]] = [
  'prose',
  'code',
  'json',
  'csv',
  'log',
  'hex',
  'base64',
  'emoji',
  'cjk',
  'line',
];

/** About `length` UTF-16 units of one kind. */
export function textOf(random: Random, kind: TextKind, length: number): string {
  // One block repeated with a counter: long texts at little cost, no two pieces the same.
  const block = blockOf(random, kind);
  let text = '';
  for (let i = 0; text.length < length; i++)
    text += kind === 'hex' || kind === 'base64' ? block : `${block}${i % 7 === 0 ? i : ''}`;
  return text;
}

function blockOf(random: Random, kind: TextKind): string {
  switch (kind) {
    case 'prose':
      return Array.from({ length: 12 }, () => random.pick(words)).join(' ') + '. ';
    case 'code':
      return `  const ${random.pick(words)} = await ${random.pick(words)}(${random.whole(0, 99)}, '${random.pick(words)}');\n`;
    case 'json':
      return `{"id":${random.whole(0, 9999)},"name":"${random.pick(words)}","ok":${random.chance(0.5)}},`;
    case 'csv':
      return `${random.whole(0, 999)},2026-0${random.whole(1, 9)}-1${random.whole(0, 9)},${random.next().toFixed(3)},${random.pick(words)}\n`;
    case 'log':
      return `2026-05-01T12:00:${random.whole(10, 59)}.${random.whole(100, 999)}Z WARN [${random.pick(words)}] status=${random.whole(100, 599)}\n`;
    case 'hex':
      return Array.from({ length: 64 }, () => random.whole(0, 15).toString(16)).join('');
    case 'base64':
      return Array.from({ length: 76 }, () => base64[random.whole(0, 63)]).join('');
    case 'emoji':
      return Array.from({ length: 8 }, () => random.pick(emoji)).join('');
    case 'cjk':
      return Array.from({ length: 6 }, () => random.pick(han)).join('');
    case 'line':
      return random.pick(words).repeat(20);
  }
}
