import { withDatabase } from '@nightshift/testing';
import { sha256 } from '../results/content-hash';
import { ResultStore } from '../results/result.store';
import { RetentionStore } from './retention.store';

const database = withDatabase();
const day = 86_400_000;
const roomy = { ageMs: 30 * day, bytesPerTeam: 1e9 };

function stores(): { results: ResultStore; retention: RetentionStore } {
  return { results: new ResultStore(database.pool), retention: new RetentionStore(database.pool) };
}

async function put(team: string, rootId: string, id: string, text: string): Promise<void> {
  const content = Buffer.from(text);
  const empty = { taskId: '', callId: '', tool: 't', mediaType: 'text/plain', sourcePath: '', sourceSha256: '' };
  await stores().results.put(team, { ...empty, rootId, id }, content, sha256(content));
}

/** The hour that a blob stays untouched is the one thing a test cannot wait for. */
async function anHourLater(): Promise<void> {
  await database.pool.query("update tool_result_blobs set touched_at = touched_at - interval '61 minutes'");
}

async function left(table: 'tool_results' | 'tool_result_blobs'): Promise<number> {
  return (await database.pool.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]?.n ?? -1;
}

beforeEach(() => database.pool.query('truncate tool_results, tool_result_blobs, tool_result_roots cascade'));

describe('retention', () => {
  it('never removes results of a live root, however old or large', async () => {
    await put('a', 'live', '1', 'x'.repeat(10_000));
    await database.pool.query("update tool_results set created_at = now() - interval '400 days'");
    await anHourLater();
    expect(await stores().retention.collect({ ageMs: 0, bytesPerTeam: 0 })).toEqual({ results: 0, blobs: 0 });
  });

  it('removes results of a root that ended long ago, then the bytes nobody refers to', async () => {
    await put('a', 'old', '1', 'only here');
    await put('a', 'old', '2', 'shared');
    await put('a', 'live', '2', 'shared');
    await stores().retention.rootEnded('a', 'old', Date.now() - 31 * day);
    await anHourLater();
    expect(await stores().retention.collect(roomy)).toEqual({ results: 2, blobs: 1 });
    expect([await left('tool_results'), await left('tool_result_blobs')]).toEqual([1, 1]);
  });

  it('keeps the bytes for an hour after they were last put', async () => {
    await put('a', 'old', '1', 'fresh');
    await stores().retention.rootEnded('a', 'old', Date.now() - 31 * day);
    expect(await stores().retention.collect(roomy)).toEqual({ results: 1, blobs: 0 });
  });

  it('removes the roots that ended first while a team is above its size, and no other team', async () => {
    for (const root of ['first', 'second', 'live']) await put('a', root, '1', root.padEnd(1_000));
    await put('b', 'other', '1', 'b'.repeat(1_000));
    await stores().retention.rootEnded('a', 'first', Date.now() - 2 * day);
    await stores().retention.rootEnded('a', 'second', Date.now() - day);
    await stores().retention.rootEnded('b', 'other', Date.now() - 9 * day);
    expect(await stores().retention.collect({ ageMs: 30 * day, bytesPerTeam: 2_000 })).toMatchObject({ results: 1 });
    const roots = await database.pool.query('select root_id from tool_results order by root_id');
    expect(roots.rows.map((row: { root_id: string }) => row.root_id)).toEqual(['live', 'other', 'second']);
  });

  it('loses nothing when puts and collections race', async () => {
    const { results, retention } = stores();
    const content = Buffer.from('contested');
    const hash = sha256(content);
    await put('a', 'r0', '1', 'contested');
    for (let round = 1; round <= 20; round += 1) {
      await database.pool.query('delete from tool_results');
      await anHourLater();
      await Promise.all([retention.collect(roomy), put('a', `r${round}`, '1', 'contested'), retention.collect(roomy)]);
      const found = await results.get('a', `r${round}`, '1', { offset: 0, limit: 100 });
      expect(found && Buffer.from(found.content).toString()).toBe('contested');
      expect(found?.record.sha256).toEqual(hash);
    }
  });
});
