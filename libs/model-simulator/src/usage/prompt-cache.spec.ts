import type { Segment } from '../conversation';
import { PromptCache, type CacheMode } from './prompt-cache';

const segment = (text: string, cacheMark = false): Segment => ({ text, images: 0, message: true, cacheMark });
const size = 1_000;

function visits(mode: CacheMode, ...requests: Segment[][]): { read: number; write: number }[] {
  const cache = new PromptCache();
  return requests.map((segments) =>
    cache.visit(
      'key',
      segments,
      segments.map((_, index) => (index + 1) * size),
      mode,
    ),
  );
}

describe('the prompt cache', () => {
  it('by prefix: what an earlier request of the same key began with is read, in steps of 128', () => {
    expect(visits('prefix', [segment('a'), segment('b')], [segment('a'), segment('b'), segment('c')])).toEqual([
      { read: 0, write: 0 },
      { read: 1_920, write: 0 },
    ]);
  });

  it('by prefix: another beginning is another prefix', () => {
    expect(visits('prefix', [segment('a'), segment('b')], [segment('x'), segment('b')])[1]).toEqual({ read: 0, write: 0 });
  });

  it('by markers: nothing without a marker', () => {
    expect(visits('markers', [segment('a'), segment('b')], [segment('a'), segment('b')])).toEqual([
      { read: 0, write: 0 },
      { read: 0, write: 0 },
    ]);
  });

  it('by markers: written up to the last marker, then read, and only the rest is written', () => {
    expect(visits('markers', [segment('a'), segment('b', true)], [segment('a'), segment('b'), segment('c', true)])).toEqual([
      { read: 0, write: 2_000 },
      { read: 2_000, write: 1_000 },
    ]);
  });

  it('no vendor caches less than 1 024 tokens', () => {
    expect(visits('markers', [segment('a', true)], [segment('a', true)])).toEqual([
      { read: 0, write: 0 },
      { read: 0, write: 0 },
    ]);
  });
});
