import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answer } from '../tools/answer';
import { Journal } from './journal';

const started = { tool: 'run_command', effect: 'effectful' as const };

describe('the journal beside a workspace', () => {
  let path = '';
  beforeEach(() => (path = join(mkdtempSync(join(tmpdir(), 'nightshift-journal-')), 'journal.log')));
  afterEach(() => rmSync(join(path, '..'), { recursive: true, force: true }));

  it('a new process finds what was started and what came out, bytes included', async () => {
    const image = { mediaType: 'image/png', data: Buffer.from([0, 1, 255]), width: 1, height: 1 };
    const result = answer('', { parts: [{ text: 'x' }, { image }] });
    const first = await Journal.open(path);
    await first.started('a', started);
    await first.started('b', started);
    await first.result('b', result);
    await first.close();
    const second = await Journal.open(path);
    expect(await Promise.all(['a', 'b', 'c'].map((call) => second.find(call)))).toEqual([
      { started },
      { started, answer: result },
      {},
    ]);
    await second.close();
  });

  it('a line that a crash cut off is dropped, and what follows is not glued to it', async () => {
    const first = await Journal.open(path);
    await first.started('a', started);
    await first.close();
    appendFileSync(path, '{"call":"b","started":{"to');
    const second = await Journal.open(path);
    expect(await second.find('b')).toEqual({});
    await second.started('c', started);
    await second.close();
    const third = await Journal.open(path);
    expect([await third.find('a'), await third.find('c')]).toEqual([{ started }, { started }]);
    await third.close();
  });

  it('calls that end at the same time are all there, each resolved after it is on the disk', async () => {
    const journal = await Journal.open(path);
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        await journal.started(`call-${index}`, started);
        await journal.result(`call-${index}`, answer(`text ${index}`));
        expect(readFileSync(path, 'utf8')).toContain(`"text ${index}"`);
      }),
    );
    await journal.close();
    const again = await Journal.open(path);
    for (let index = 0; index < 100; index++) {
      expect((await again.find(`call-${index}`)).answer).toEqual(answer(`text ${index}`));
    }
    await again.close();
  });

  it('it stays bounded: open calls and the newest results survive a rewrite', async () => {
    const journal = await Journal.open(path);
    await journal.started('open', started);
    const long = 'x'.repeat(1024 * 1024);
    for (let index = 0; index < 90; index++) {
      await journal.started(`call-${index}`, started);
      await journal.result(`call-${index}`, answer(index < 40 ? long : 'short'));
    }
    expect(statSync(path).size).toBeLessThan(18 * 1024 * 1024);
    await journal.close();
    const again = await Journal.open(path);
    expect(await again.find('open')).toEqual({ started });
    expect(await again.find('call-0')).toEqual({});
    expect((await again.find('call-89')).answer).toEqual(answer('short'));
    await again.close();
  });
});
