import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes, transcript } from '@nightshift/contracts';
import { team, textOf } from '../../spec-kit/other-side';
import { withRunner } from '../../spec-kit/with-runner';

describe('a tool call, from its queue to its report', () => {
  const test = withRunner();
  const { side } = test;
  let directory = '';

  beforeAll(async () => {
    directory = join(test.sources, 'project');
    mkdirSync(join(directory, 'src'), { recursive: true });
    writeFileSync(join(directory, 'AGENTS.md'), 'Be kind.\n');
    writeFileSync(join(directory, 'src/a.ts'), 'const a = 1;\nconst b = 2;\n');
    const opened = await side.open('ws-1', { directory, mode: 'in_place' });
    expect(opened).toMatchObject({ path: directory, mode: 'in_place', rules: 'Be kind.\n', sandboxed: true, sandboxReason: '' });
  });

  it('claims, reads, and reports content, hash and duration', async () => {
    const finished = await side.call('read_file', { path: 'src/a.ts' });
    expect(textOf(finished)).toBe('const a = 1;\nconst b = 2;\n');
    expect(finished).toMatchObject({
      runner: 'runner-1',
      replayedFromJournal: false,
      result: { tool: 'read_file', isError: false, outcome: transcript.ToolOutcome.FINISHED },
      seen: [{ path: 'src/a.ts', readInWhole: true, readGeneration: 1 }],
    });
  });

  it('writes, edits after a read, lists, searches and runs a command', async () => {
    expect(textOf(await side.call('write_file', { path: 'src/deep/new.ts', content: 'export {};\n' }))).toBe(
      'Created src/deep/new.ts; now 11 bytes, 1 lines.',
    );
    const edited = await side.call('edit_file', { path: 'src/a.ts', old_text: 'a = 1', new_text: 'a = 3' });
    expect(textOf(edited)).toBe('Edited src/a.ts (1 place); now 26 bytes, 2 lines.');
    expect(edited.changes).toMatchObject([{ path: 'src/a.ts', kind: 'changed' }]);
    expect(readFileSync(join(directory, 'src/a.ts'), 'utf8')).toBe('const a = 3;\nconst b = 2;\n');
    expect(textOf(await side.call('list_files', { path: 'src' }))).toBe('a.ts 26\ndeep/');
    expect(textOf(await side.call('list_files', { glob: '*.ts' }))).toBe('src/a.ts\nsrc/deep/new.ts');
    expect(textOf(await side.call('search_files', { pattern: 'const \\w' }))).toBe(
      'src/a.ts:1:const a = 3;\nsrc/a.ts:2:const b = 2;',
    );
    const ran = await side.call('run_command', { command: 'cat src/a.ts; echo oops >&2; exit 3' });
    expect(textOf(ran)).toMatch(/^const a = 3;\nconst b = 2;\noops\n\[exit code 3 after \d+\.\d s\]$/);
    expect(ran.result).toMatchObject({ isError: true, outcome: transcript.ToolOutcome.FINISHED });
  });

  it('stores a long text and reports a preview below 3 000 characters', async () => {
    const finished = await side.call('run_command', { command: 'seq 1 20000' });
    const stored = finished.result?.stored;
    expect(textOf(finished).length).toBeLessThan(3_000);
    expect(textOf(finished)).toContain(`restore_tool_result with id ${stored?.id}`);
    const put = side.puts.get(stored?.id ?? '');
    expect(Buffer.from(put?.content ?? []).toString()).toMatch(/^1\n2\n[^]*\n20000\n\[exit code 0 after/);
    expect(put).toMatchObject({ rootId: 'task-1', tool: 'run_command', callId: finished.callId });
  });

  it('streams the output of a command while it runs', async () => {
    const live: string[] = [];
    const stop = side.bus.subscribeLive(routes.toolOutput, { team, task: 'task-1' }, (message) => void live.push(message.text));
    await side.bus.flush();
    await side.call('run_command', { command: 'echo first; sleep 0.4; echo second' });
    stop();
    expect(live).toEqual(['first\n', 'second\n']);
  });

  it('a call that the orchestrator has closed is dropped without a word', async () => {
    const callId = await side.send('write_file', { path: 'never', content: '' }, { granted: false, reason: 'cancelled' });
    await side.call('list_files', {});
    expect(side.finished.filter((finished) => finished.callId === callId)).toEqual([]);
  });

  it('a bad call comes back to the model as a clear error', async () => {
    const rows: [string, unknown, string][] = [
      [
        'read_file',
        { offset: 0 },
        'read_file was called with wrong arguments\npath: expected string, received undefined\noffset: Too small',
      ],
      ['read_file', '{"path"', 'the arguments of read_file are not valid JSON'],
      ['explode', {}, 'there is no tool "explode"; known: read_file'],
      ['read_file', { path: 'nope' }, 'nope: no such file'],
      ['search_files', { pattern: '(' }, 'regex parse error'],
    ];
    for (const [name, args, text] of rows) {
      const finished = await side.call(name, args);
      expect(textOf(finished)).toContain(text);
      expect(finished.result).toMatchObject({ isError: true, outcome: transcript.ToolOutcome.FAILED });
    }
  });
});
