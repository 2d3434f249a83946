import { create } from '@bufbuild/protobuf';
import { registry } from '@nightshift/contracts';
import { lessonOf } from './observation';

const observed = (fields: object): registry.Observed =>
  create(registry.ObservedSchema, { kind: 'window', tokens: 32_768, exactness: 'exact', atMs: 5n, text: 't', ...fields });

describe('lessonOf', () => {
  it.each([
    ['an exact window', {}, { teaches: 'limit', kind: 'window', tokens: 32_768, exactness: 'exact', atMs: 5, text: 't' }],
    [
      'an input maximum as such',
      { kind: 'input_max' },
      { teaches: 'limit', kind: 'inputMax', tokens: 32_768, exactness: 'exact', atMs: 5, text: 't' },
    ],
    [
      'an output cap as such, never as a window',
      { kind: 'output_max' },
      { teaches: 'limit', kind: 'outputMax', tokens: 32_768, exactness: 'exact', atMs: 5, text: 't' },
    ],
    [
      'a cut answer',
      { exactness: 'request_end' },
      { teaches: 'limit', kind: 'window', tokens: 32_768, exactness: 'cut', atMs: 5, text: 't' },
    ],
    ['an accepted request', { kind: 'accepted', exactness: '' }, { teaches: 'accepted', tokens: 32_768 }],
    ['nothing from a lower bound', { exactness: 'lower_bound' }, { teaches: 'nothing', why: 'lower_bound is no limit' }],
    ['nothing from characters or other kinds', { kind: 'characters' }, { teaches: 'nothing', why: 'unknown kind characters' }],
    ['nothing from a negative or absurdly small figure', { tokens: 64 }, { teaches: 'nothing', why: '64 tokens is no window' }],
  ])('learns %s', (_what, fields, lesson) => {
    expect(lessonOf(observed(fields))).toEqual(lesson);
  });
});
