import { create } from '@bufbuild/protobuf';
import { toolresult } from '@nightshift/contracts';
import { restoredText } from './restored-text';
import type { SourceState } from './source-now';

const whole = { text: 'one\ntwo', totalChars: 7, sourcePath: 'a.txt', sourceSha256: 'x' };

describe('a restored result', () => {
  it.each<[SourceState, string]>([
    ['unchanged', 'It was read from a.txt, which is still the same.'],
    ['changed', 'It was read from a.txt, which has changed since: read it again before relying on this.'],
    ['gone', 'It was read from a.txt, which is no longer there as a text file.'],
    ['unknown', 'It was read from a.txt, which may have changed since.'],
  ])('says of its source: %s', (state, said) => {
    const reply = create(toolresult.RestoreReplySchema, whole);
    expect(restoredText({ id: 'r1' }, reply, state)).toBe(`one\ntwo\n[r1, whole, 7 characters. ${said}]`);
  });

  it('of a command says nothing about a source, and of a part how to go on', () => {
    const part = create(toolresult.RestoreReplySchema, { ...whole, text: 'on', sourcePath: '' });
    expect(restoredText({ id: 'r1', offset: 0, limit: 2 }, part, 'unknown')).toBe(
      'on\n[r1, characters 0 to 2 of 7; go on with offset 2.]',
    );
  });
});
