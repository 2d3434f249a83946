import { randomBytes } from 'node:crypto';
import type { RunningService } from '@nightshift/bus';
import { loadConfig } from '@nightshift/config';
import { routes } from '@nightshift/contracts';
import { createPool, schemaReady } from '@nightshift/db';
import { eventually, startServiceModule, withDatabase, withNats } from '@nightshift/testing';
import { settings } from '../config';
import { ToolResultStoreModule } from '../tool-result-store.module';

const nats = withNats();
const database = withDatabase();
let service: RunningService;

beforeAll(async () => {
  const config = loadConfig(settings, { DATABASE_URL: database.url, NATS_URL: nats.url, RESULT_MAX_BYTES: '12000000' });
  const pool = createPool(config);
  service = await startServiceModule({
    service: 'tool-result-store',
    module: ToolResultStoreModule.forRoot(config, pool),
    natsUrl: nats.url,
    ready: [schemaReady(pool)],
  });
});
afterAll(() => service.stop());

const a = { team: 'team-a' };

describe('the tool-result store over the bus', () => {
  it('is ready', async () => {
    await eventually(async () => {
      const response = await fetch(`${service.operations.url}/health/ready`);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
      return true;
    });
  });

  it('gives back what was put, to every task of the root and to no other team', async () => {
    const content = Buffer.from('line one\nline two 🌙\n');
    const put = await service.bus.request(
      routes.toolresultPut,
      { rootId: 'root', taskId: 't1', tool: 'run_command', content },
      a,
    );
    expect(put).toMatchObject({ bytes: content.length, deduplicated: false });
    const again = await service.bus.request(
      routes.toolresultPut,
      { rootId: 'root', taskId: 't2', tool: 'run_command', content },
      a,
    );
    expect(again).toMatchObject({ id: put.id, sha256: put.sha256, deduplicated: true });

    const got = await service.bus.request(routes.toolresultGet, { rootId: 'root', id: put.id }, a);
    expect([Buffer.from(got.content).equals(content), got.sha256, got.more]).toEqual([true, put.sha256, false]);
    await expect(
      service.bus.request(routes.toolresultGet, { rootId: 'root', id: put.id }, { team: 'team-b' }),
    ).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('restores a range and matching lines with their numbers, bounded', async () => {
    const text = Array.from({ length: 1_000 }, (_, index) => `row ${index + 1}`).join('\n');
    const { id } = await service.bus.request(
      routes.toolresultPut,
      { rootId: 'root', content: Buffer.from(text), tool: 'read_file' },
      a,
    );
    const ask = (question: object): Promise<object> =>
      service.bus.request(routes.toolresultRestore, { rootId: 'root', id, ...question }, a);
    expect(await ask({ maxChars: 11 })).toMatchObject({ text: 'row 1\nrow 2', truncated: true, totalChars: text.length });
    expect(await ask({ offset: 6, limit: 5 })).toMatchObject({ text: 'row 2' });
    expect(await ask({ search: 'row 99', maxChars: 30 })).toMatchObject({
      text: '99: row 99\n990: row 990',
      matches: 11,
      truncated: true,
    });
  });

  it('carries a result larger than one message, in ranges that join', async () => {
    const content = randomBytes(10_000_000);
    const { id, sha256 } = await service.bus.request(routes.toolresultPut, { rootId: 'root', content }, a);
    const parts: Uint8Array[] = [];
    for (let offset = 0, more = true; more; ) {
      const part = await service.bus.request(routes.toolresultGet, { rootId: 'root', id, offset }, a);
      parts.push(part.content);
      offset += part.content.length;
      more = part.more;
      expect(part.sha256).toBe(sha256);
    }
    expect(Buffer.concat(parts).equals(content)).toBe(true);
  });

  it('names the limit when a result is too large, and the fault when the root is missing', async () => {
    await expect(
      service.bus.request(routes.toolresultPut, { rootId: 'root', content: Buffer.alloc(12_000_001) }, a),
    ).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('12000000') });
    await expect(service.bus.request(routes.toolresultPut, { content: Buffer.from('x') }, a)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
  });

  it('marks a root as ended, once, however often it is told', async () => {
    for (const messageId of ['ended-1', 'ended-2']) {
      await service.bus.command(routes.toolresultRootEnded, { rootId: 'root', atMs: 1_767_225_600_000n }, { ...a, messageId });
    }
    await eventually(async () => {
      const roots = await database.pool.query('select team_id, root_id, ended_at from tool_result_roots');
      expect(roots.rows).toEqual([{ team_id: 'team-a', root_id: 'root', ended_at: new Date(1_767_225_600_000) }]);
      return true;
    });
  });

  it('counts puts and restores', async () => {
    const text = await service.metrics.text();
    expect(text).toMatch(/nightshift_toolresult_puts_total\{outcome="deduplicated"\} 1/);
    expect(text).toMatch(/nightshift_toolresult_restored_total\{outcome="ok"\} 3/);
    expect(text).toMatch(/nightshift_toolresult_bytes [1-9]/);
  });
});
