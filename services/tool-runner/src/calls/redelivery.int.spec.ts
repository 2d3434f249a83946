import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transcript } from '@nightshift/contracts';
import { eventually } from '@nightshift/testing';
import { textOf } from '../../spec-kit/other-side';
import { RunnerProcess } from '../../spec-kit/runner-process';
import { withRunner } from '../../spec-kit/with-runner';

const { FINISHED, UNKNOWN } = transcript.ToolOutcome;
const seen = { path: 'notes.txt', sha256: '', readGeneration: 1, readInWhole: true };

interface Row {
  title: string;
  crash: string;
  tool: string;
  args: unknown;
  outcome: transcript.ToolOutcome;
  replayed: boolean;
  text: RegExp;
  /** Content of notes.txt at the end. */
  file: string;
}

const append = { command: 'echo line >> notes.txt; cat notes.txt' };
const edit = { path: 'notes.txt', old_text: 'one', new_text: 'two' };

const rows: Row[] = [
  {
    title: 'a command whose result is in the journal is not run again: the result is published',
    crash: 'tool-result-journaled',
    tool: 'run_command',
    args: append,
    outcome: FINISHED,
    replayed: true,
    text: /^one\nline\n\[exit code 0/,
    file: 'one\nline\n',
  },
  {
    title: 'a command that ran but whose result is not in the journal is never run twice',
    crash: 'tool-performed',
    tool: 'run_command',
    args: append,
    outcome: UNKNOWN,
    replayed: true,
    text: /outcome is unknown/,
    file: 'one\nline\n',
  },
  {
    title: 'an edit that took place is recognised by its hash',
    crash: 'tool-performed',
    tool: 'edit_file',
    args: edit,
    outcome: FINISHED,
    replayed: true,
    text: /^Edited notes.txt \(1 place\)/,
    file: 'two\n',
  },
  {
    title: 'an edit that did not take place is made',
    crash: 'tool-running',
    tool: 'edit_file',
    args: edit,
    outcome: FINISHED,
    replayed: false,
    text: /^Edited notes.txt \(1 place\)/,
    file: 'two\n',
  },
];

describe('a runner killed inside a call', () => {
  const test = withRunner({}, { started: false });
  const { side } = test;

  it.each(rows)('$title', async ({ crash, tool, args, outcome, replayed, text, file }) => {
    const id = `ws-${rows.findIndex((row) => row.crash === crash && row.tool === tool)}`;
    const directory = join(test.sources, id);
    mkdirSync(directory);
    writeFileSync(join(directory, 'notes.txt'), 'one\n');
    const before = side.announced.length;
    const killed = RunnerProcess.start({ ...test.environment(), CRASH_POINT: crash });
    await eventually(() => side.announced.length > before, { timeoutMs: 60_000 });
    await side.open(id, { directory, mode: 'in_place' });
    const hash = '2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806';
    const callId = await side.send(tool, args, { workspaceId: id, seen: [{ ...seen, sha256: hash, readInWhole: false }] });
    expect(await killed.ended()).toBe('SIGKILL');
    await test.restart();

    const finished = await side.reportOf(callId);
    expect(finished).toMatchObject({ replayedFromJournal: replayed, result: { outcome } });
    expect(textOf(finished)).toMatch(text);
    expect(readFileSync(join(directory, 'notes.txt'), 'utf8')).toBe(file);
    await test.stop();
  });
});
