import { sha256 } from '../results/content-hash';
import { restore } from './restore';
import { searchLines } from './line-search';
import { textRange } from './text-range';

describe('textRange', () => {
  it.each([
    ['the whole text', 'abc', 0, 0, 0, { text: 'abc', truncated: false }],
    ['a range', 'abcdef', 2, 3, 0, { text: 'cde', truncated: true }],
    ['the end', 'abcdef', 4, 10, 0, { text: 'ef', truncated: false }],
    ['nothing beyond the end', 'abc', 9, 1, 0, { text: '', truncated: false }],
    ['no more than the bound', 'abcdef', 0, 0, 4, { text: 'abcd', truncated: true }],
    ['no half of a pair at the end', 'a🌙b', 0, 2, 0, { text: 'a', truncated: true }],
    ['the pair whole on the next page', 'a🌙b', 2, 1, 0, { text: '🌙', truncated: true }],
  ] as const)('gives %s', (_what, text, offset, limit, maxChars, expected) => {
    expect(textRange(text, offset, limit, maxChars)).toEqual(expected);
  });

  it('joins pages without gap or overlap', () => {
    const text = 'a🌙夜bc🌊🌊 d'.repeat(7);
    for (const page of [1, 2, 3, 5]) {
      let joined = '';
      for (let at = 0; at < text.length; at += page) joined += textRange(text, at, page, 0).text;
      expect(joined).toBe(text);
    }
  });
});

describe('searchLines', () => {
  const all = { offset: 0, limit: 0, maxChars: 0 };
  const text = 'one error\nfine\r\nTwo Errors\n\nlast error';

  it.each([
    [
      'numbers the matching lines',
      { ...all, search: 'error' },
      { text: '1: one error\n3: Two Errors\n5: last error', matches: 3, truncated: false },
    ],
    [
      'minds the case once an upper-case letter is given',
      { ...all, search: 'Error' },
      { text: '3: Two Errors', matches: 1, truncated: false },
    ],
    [
      'skips and limits matches',
      { ...all, search: 'error', offset: 1, limit: 1 },
      { text: '3: Two Errors', matches: 3, truncated: true },
    ],
    [
      'stays within the characters allowed',
      { ...all, search: 'error', maxChars: 14 },
      { text: '1: one error', matches: 3, truncated: true },
    ],
    ['takes pattern characters literally', { ...all, search: '.*' }, { text: '', matches: 0, truncated: false }],
  ])('%s', (_title, request, expected) => {
    expect(searchLines(text, request)).toEqual(expected);
  });

  it('shows the part of a very long line around the match', () => {
    const found = searchLines(`${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}`, { ...all, search: 'needle' });
    expect(found.text).toMatch(/^1: …x+needley+…$/);
    expect(found.text.length).toBeLessThan(420);
  });

  it('is linear: a search in 8 MB of one line ends within a second', () => {
    const started = performance.now();
    expect(searchLines('ab'.repeat(4_000_000), { ...all, search: 'abc', maxChars: 1_000 }).matches).toBe(0);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('restore', () => {
  const bytes = Buffer.from('\uFEFFhello');
  const record = {
    rootId: 'r',
    id: 'i',
    taskId: '',
    callId: '',
    tool: 'read_file',
    mediaType: 'text/plain',
    sourcePath: 'a.txt',
    sourceSha256: 'ff',
    sha256: sha256(bytes),
    bytes: bytes.length,
  };
  const question = { offset: 0, limit: 0, search: '', maxChars: 0 };
  const about = {
    tool: 'read_file',
    sourcePath: 'a.txt',
    sourceSha256: 'ff',
    sha256: sha256(bytes).toString('hex'),
    totalBytes: bytes.length,
  };

  it('keeps a byte order mark and says where the content came from', () => {
    expect(restore(record, bytes, question)).toEqual({
      ...about,
      mediaType: 'text/plain',
      text: '\uFEFFhello',
      totalChars: 6,
      truncated: false,
    });
  });

  it('gives an image as bytes, never as text', () => {
    expect(restore({ ...record, mediaType: 'image/png' }, bytes, question)).toEqual({
      ...about,
      mediaType: 'image/png',
      data: bytes,
    });
  });
});
