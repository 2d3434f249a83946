import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compaction } from '@nightshift/contracts';
import { closeTokenThread, estimateEntry } from '@nightshift/compaction';
import { importSession } from '../sessions/import-session';
import { extractiveSummary } from './extractive';
import { replay } from './replay';

// See recorded-sessions.int.spec.ts: real sessions of other agents lie beside the checkout where they are available.
const folder = join(__dirname, '../../../../../shared/data/transcripts');
const counts = join(folder, 'counts.json');
const files = existsSync(counts) ? Object.keys(JSON.parse(readFileSync(counts, 'utf8')) as object) : [];
if (files.length === 0) console.warn(`skipped: no recorded sessions at ${folder}`);
/** The first two thirds of this project's own sample task, from `GET /v1/tasks/{id}/entries`: always replayed. */
const own = join(__dirname, 'recorded/sample-task.json');
/** 8 000 tokens that no pass can change. */
const system = 'You are a careful engineer. '.repeat(1_150);

afterAll(() => closeTokenThread());

describe('replay', () => {
  const session = (results: number, chars: number) => {
    const turn = (i: number) => [
      {
        role: 'assistant',
        content: `step ${i}`,
        tool_calls: [{ id: `c${i}`, function: { name: 'read', arguments: `{"path":"f${i}.ts"}` } }],
      },
      { role: 'tool', tool_call_id: `c${i}`, content: `line ${i} of a file. `.repeat(chars / 20) },
    ];
    const messages = [{ role: 'user', content: 'Fix the build.' }, ...Array.from({ length: results }, (_, i) => turn(i)).flat()];
    return importSession('made', JSON.stringify(messages));
  };

  it('compacts before a model call once the threshold is crossed, and lands below it', async () => {
    const run = await replay(session(30, 8_000), { window: 64_000, maxOutput: 0, summarize: extractiveSummary, clock: () => 0 });
    expect(run.threshold).toBe(32_000);
    expect(run.generations.length).toBeGreaterThanOrEqual(1);
    for (const { result, dropped, hidden, restorable, valid } of run.generations) {
      expect(result.before).toBeGreaterThan(32_000);
      expect(result.after).toBeLessThanOrEqual(32_000);
      expect({ dropped, restorable, valid }).toEqual({
        dropped: 0,
        restorable: hidden,
        valid: { anthropic: true, openaiChat: true, openaiResponses: true },
      });
    }
  });

  it('goes on without a summary through the tiers that need no model', async () => {
    const run = await replay(session(30, 8_000), { window: 64_000, maxOutput: 0, clock: () => 0 });
    expect(run.generations.length).toBeGreaterThanOrEqual(1);
    for (const { result } of run.generations) {
      expect(result.tiers[0]).toMatchObject({ tier: 'summary', outcome: 'skipped' });
      expect(result.tiers.some(({ outcome }) => outcome === 'applied')).toBe(true);
    }
  });

  it('does nothing below the threshold', async () => {
    const run = await replay(session(3, 800), { window: 64_000, maxOutput: 0, clock: () => 0 });
    expect(run.generations).toEqual([]);
  });

  it('says with sizes when the floor does not fit', async () => {
    const run = await replay(
      { ...session(30, 8_000), system: system.repeat(4) },
      { window: 32_000, maxOutput: 0, clock: () => 0 },
    );
    expect(run.stopped).toMatch(/CONTEXT_IRREDUCIBLE.*\d/);
  });
});

describe('recorded sessions with 8 000 fixed tokens', () => {
  it('the own sample task: valid for three protocols, landed at least three times, nothing dropped', async () => {
    expect(await expectSafe(own)).toBeGreaterThanOrEqual(3);
  });

  (files.length > 0 ? it : it.skip).each(files.length > 0 ? files : ['none'])(
    '%s: valid for three protocols, landed, nothing dropped',
    async (file) => {
      await expectSafe(join(folder, file));
    },
  );

  /** @returns generations */
  async function expectSafe(file: string): Promise<number> {
    const session = { ...importSession(file, readFileSync(file, 'utf8')), system };
    // Half the window, so that the rest of the session crosses the threshold again and again; short sessions have none to cross.
    const run = await shrinkUntil(session);
    const size = session.entries.reduce((sum, entry) => sum + estimateEntry(entry), 0);
    if (size > 25_000) expect(run.generations.length).toBeGreaterThanOrEqual(3);
    for (const { result, valid, dropped } of run.generations) {
      expect({ file, valid, dropped }).toEqual({
        file,
        valid: { anthropic: true, openaiChat: true, openaiResponses: true },
        dropped: 0,
      });
      expect(result.after).toBeLessThan(result.before);
      expect(result.after).toBeLessThanOrEqual(run.effective);
      expect([compaction.PassOutcome.REDUCED, compaction.PassOutcome.DEGRADED]).toContain(result.outcome);
    }
    return run.generations.length;
  }

  /** The largest window that yields three generations; for a session too short for any, the smallest that can run. */
  async function shrinkUntil(session: Parameters<typeof replay>[0]) {
    let run: Awaited<ReturnType<typeof replay>> | undefined;
    for (const window of [
      400_000, 200_000, 128_000, 64_000, 48_000, 40_000, 32_000, 28_000, 24_000, 20_000, 18_000, 17_000, 16_000,
    ]) {
      const next = await replay(session, {
        window: window,
        maxOutput: 0,
        summarize: extractiveSummary,
        clock: () => 0,
      });
      if (next.stopped === undefined) run = next;
      if (next.generations.length >= 3 || next.stopped !== undefined) break;
    }
    if (run === undefined) throw new Error('no window fits');
    return run;
  }
});
