import { create, toBinary } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import { parseWindowKey, seededKey, windowKey } from './window-keys';
import { WindowTable } from './window-table';

const name = { provider: 'ollama', endpoint: '', model: 'qwen3:8b/q4 K' };
const encoded = (window: number): Uint8Array =>
  toBinary(compaction.ModelWindowSchema, create(compaction.ModelWindowSchema, { ...name, window, source: 'served' }));

describe('windowKey', () => {
  it.each([name, { ...name, endpoint: 'http://127.0.0.1:11434' }, { ...name, team: 'team-a' }])(
    'survives a round trip: %j',
    (each) => {
      expect(parseWindowKey(windowKey(each))).toEqual(each);
      expect(windowKey(each)).toMatch(/^[wt](\.[\w-]+)+$/);
    },
  );

  it('is no window for keys of another kind', () => {
    expect([seededKey, 'x.abc', 'w', 'w.', 't.abc'].map(parseWindowKey)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('WindowTable', () => {
  it('reads an absent model as 32 000 and says that it is unknown', () => {
    expect(new WindowTable().get('a', '', 'b')).toMatchObject({ window: 32_000, unknown: true, source: 'unknown' });
  });

  it('never lends the window of one model, endpoint or team to another', () => {
    const table = new WindowTable();
    table.apply({ key: windowKey(name), value: encoded(8_192) });
    table.apply({ key: windowKey({ ...name, team: 'a' }), value: encoded(4_096) });
    const seen = [
      table.get(name.provider, '', name.model).window,
      table.get(name.provider, '', name.model, 'a').window,
      table.get(name.provider, '', name.model, 'b').window,
      table.get(name.provider, 'http://other', name.model).window,
      table.get(name.provider, '', 'other').window,
    ];
    expect(seen).toEqual([8_192, 4_096, 8_192, 32_000, 32_000]);
  });

  it('falls back to the general window when a team drops its override', () => {
    const table = new WindowTable();
    table.apply({ key: windowKey(name), value: encoded(8_192) });
    table.apply({ key: windowKey({ ...name, team: 'a' }), value: encoded(4_096) });
    table.apply({ key: windowKey({ ...name, team: 'a' }) });
    expect(table.get(name.provider, '', name.model, 'a').window).toBe(8_192);
  });

  it('is seeded from the marker on, whatever came before', () => {
    const table = new WindowTable();
    table.apply({ key: windowKey(name), value: encoded(8_192) });
    expect(table.seeded).toBe(false);
    table.apply({ key: seededKey, value: new Uint8Array([1]) });
    expect(table.seeded).toBe(true);
  });
});
