import { randomBytes } from 'node:crypto';
import { withDatabase } from '@nightshift/testing';
import { sha256 } from './content-hash';
import { pieceBytes } from './encoding';
import { ResultStore } from './result.store';
import type { ResultRecord } from './result.store';

const database = withDatabase();
const record: ResultRecord = {
  rootId: 'root',
  id: 'r1',
  taskId: 'task',
  callId: 'call',
  tool: 'read_file',
  mediaType: 'text/plain',
  sourcePath: 'src/a.ts',
  sourceSha256: 'ab',
};
const whole = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
const put = (team: string, changed: Partial<ResultRecord>, content: Uint8Array): Promise<{ deduplicated: boolean }> =>
  new ResultStore(database.pool).put(team, { ...record, ...changed }, content, sha256(content));

describe('ResultStore', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from([0])],
    ['text with a byte order mark, emoji and CJK', Buffer.from('\uFEFFnaïve 🌙 夜\r\n'.repeat(500))],
    ['bytes that are no text', randomBytes(20_000)],
    ['exactly one piece', Buffer.alloc(pieceBytes, 'a')],
    ['one byte more than a piece', Buffer.alloc(pieceBytes + 1, 'ab')],
    ['several pieces that shrink', Buffer.from('line of a log\n'.repeat(100_000))],
    ['several pieces that do not shrink', randomBytes(3 * pieceBytes + 17)],
  ])('gives back %s byte by byte', async (name, content) => {
    await put('a', { id: name.replaceAll(/\W/g, '_') }, content);
    const found = await new ResultStore(database.pool).get('a', 'root', name.replaceAll(/\W/g, '_'), whole);
    expect(found && Buffer.from(found.content).equals(content)).toBe(true);
    expect(found?.record).toEqual({ ...record, id: name.replaceAll(/\W/g, '_'), sha256: sha256(content), bytes: content.length });
  });

  it('gives any range, across pieces too, and nothing beyond the end', async () => {
    const content = randomBytes(2 * pieceBytes + 100);
    await put('a', { id: 'range' }, content);
    const store = new ResultStore(database.pool);
    const ranges = [
      [0, 10],
      [pieceBytes - 5, 10],
      [pieceBytes, pieceBytes],
      [pieceBytes + 3, 2 * pieceBytes],
      [2 * pieceBytes + 99, 10],
      [3 * pieceBytes, 10],
    ] as const;
    for (const [offset, limit] of ranges) {
      const found = await store.get('a', 'root', 'range', { offset, limit });
      expect(found && Buffer.from(found.content).equals(content.subarray(offset, offset + limit))).toBe(true);
    }
  });

  it('keeps equal bytes once per team and never across teams', async () => {
    const content = randomBytes(1_000);
    const outcomes = [
      await put('a', { id: 'd1' }, content),
      await put('a', { id: 'd2', rootId: 'other' }, content),
      await put('b', { id: 'd1' }, content),
    ];
    expect(outcomes).toEqual([{ deduplicated: false }, { deduplicated: true }, { deduplicated: false }]);
    const blobs = await database.pool.query('select team_id from tool_result_blobs where sha256 = $1 order by team_id', [
      sha256(content),
    ]);
    expect(blobs.rows).toEqual([{ team_id: 'a' }, { team_id: 'b' }]);
  });

  it('is the same record when put again, and refuses other bytes under the same id', async () => {
    await put('a', { id: 'same' }, Buffer.from('one'));
    await expect(put('a', { id: 'same' }, Buffer.from('one'))).resolves.toEqual({ deduplicated: true });
    await expect(put('a', { id: 'same' }, Buffer.from('two'))).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('one of many puts at once stores the bytes, and every reference works', async () => {
    const content = randomBytes(pieceBytes + 1);
    const ids = Array.from({ length: 12 }, (_, index) => `race${index}`);
    const outcomes = await Promise.all(ids.map((id) => put('a', { id }, content)));
    expect(outcomes.filter((outcome) => !outcome.deduplicated)).toHaveLength(1);
    const stats = await new ResultStore(database.pool).stat('a', 'root', [...ids, 'absent']);
    expect(stats.map((stat) => stat.id).sort()).toEqual([...ids].sort());
  });

  it.each([
    ['another team', 'b', 'root', 'mine'],
    ['another root', 'a', 'else', 'mine'],
    ['another id', 'a', 'root', 'yours'],
  ])('knows nothing for %s', async (_what, team, root, id) => {
    await put('a', { id: 'mine' }, Buffer.from('secret'));
    expect(await new ResultStore(database.pool).get(team, root, id, whole)).toBeUndefined();
  });

  it('refuses bytes that were altered in the database', async () => {
    await put('a', { id: 'altered' }, Buffer.from('intact'));
    await database.pool.query('update tool_result_blobs set content = $1 where sha256 = $2', [
      Buffer.from('broken'),
      sha256(Buffer.from('intact')),
    ]);
    await expect(new ResultStore(database.pool).get('a', 'root', 'altered', whole)).rejects.toMatchObject({
      code: 'INTERNAL',
      details: { mismatch: true },
    });
  });
});
