import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSession } from './import-session';

// Real sessions of other agents are not part of this repository: other people wrote them. They lie beside the checkout where
// they are available.
const folder = join(__dirname, '../../../../../shared/data/transcripts');
interface Counts {
  format: string;
  tool_calls: number;
  tool_results: number;
  thinking: number;
  errors: number;
}
const counts = existsSync(join(folder, 'counts.json'))
  ? (JSON.parse(readFileSync(join(folder, 'counts.json'), 'utf8')) as Record<string, Counts>)
  : {};
const files = Object.keys(counts);
if (files.length === 0) console.warn(`skipped: no recorded sessions at ${folder}`);

(files.length > 0 ? describe : describe.skip)('recorded sessions', () => {
  it.each(files.length > 0 ? files : ['none'])('%s: every call and result is there', (file) => {
    const session = importSession(file, readFileSync(join(folder, file), 'utf8'));
    const wanted = counts[file] as Counts;
    const blocks = session.entries.flatMap(({ body }) => (body.case === 'assistant' ? body.value.blocks : []));
    const results = session.entries.filter(({ body }) => body.case === 'toolResult');
    const calls = blocks.filter(({ kind }) => kind.case === 'toolCall');
    expect({ format: session.format, calls: calls.length, results: results.length }).toEqual({
      format: wanted.format,
      ...expectedCalls(file, wanted),
    });
    const ids = calls.map(({ kind }) => (kind.case === 'toolCall' ? kind.value.id : ''));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

/** Where our reading differs from the plain count of a file, and why. */
function expectedCalls(file: string, { tool_calls: calls, tool_results: results }: Counts): { calls: number; results: number } {
  // A search that ran at the vendor is counted as a call there; it has no result and becomes text.
  if (file.startsWith('codex/')) return { calls: results, results };
  // The step that hands over by summary counts as a result there; it is a notice of the platform.
  if (file === 'atif/terminus2-summarization.trajectory.json') return { calls, results: results - 1 };
  // The reply, which stands apart from the request's messages, ends with a call of its own.
  if (file.includes('openhands')) return { calls: calls + 1, results };
  return { calls, results };
}
