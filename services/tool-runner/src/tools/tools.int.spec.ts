import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { transcript, type tool } from '@nightshift/contracts';
import { textOf } from '../../spec-kit/other-side';
import { withRunner } from '../../spec-kit/with-runner';
import { temporaryName } from '../files/contents';

const { FAILED, FINISHED } = transcript.ToolOutcome;

/** A grey picture that does not compress. */
function png(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    return Buffer.concat([size, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = Buffer.from(Array.from({ length: (width + 1) * height }, (_, index) => (index * 7919) % 251));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels, { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

describe('the tools of a workspace', () => {
  const test = withRunner();
  const { side } = test;
  let directory = '';
  let tasks = 0;
  const newTask = (): string => `task-${++tasks}-tools`;
  const call = (taskId: string, name: string, args: unknown, seen: tool.SeenFile[] = [], generation = 1) =>
    side.call(name, args, { seen, generation }, taskId);

  beforeAll(async () => {
    directory = join(test.sources, 'project');
    mkdirSync(directory);
    writeFileSync(join(directory, 'long.txt'), Array.from({ length: 5_000 }, (_, index) => `line ${index + 1}\n`).join(''));
    await side.open('ws-1', { directory, mode: 'in_place' });
  });

  it('a long file comes in pages that say how to go on, and together they are the file', async () => {
    const task = newTask();
    let offset: number | undefined = 1;
    let text = '';
    for (let page = 0; offset !== undefined; page++) {
      expect(page).toBeLessThan(10);
      const parts: transcript.Part[] = (await call(task, 'read_file', { path: 'long.txt', offset })).result?.parts ?? [];
      const [content, note] = parts.map((part) => String(part.kind.value));
      expect(content?.length).toBeLessThanOrEqual(20_000);
      text += content;
      const next: string | undefined = /go on with offset (\d+)/.exec(note ?? '')?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(text).toBe(readFileSync(join(directory, 'long.txt'), 'utf8'));
  });

  it('an unchanged file read again says so in one line, until it changes or a compaction hides it', async () => {
    const task = newTask();
    writeFileSync(join(directory, 'same.txt'), 'same\n');
    const { seen } = await call(task, 'read_file', { path: 'same.txt' });
    expect(textOf(await call(task, 'read_file', { path: 'same.txt' }, seen))).toMatch(
      /^\[same.txt is unchanged since you read it/,
    );
    expect(textOf(await call(task, 'read_file', { path: 'same.txt', offset: 1 }, seen))).toBe('same\n');
    expect(textOf(await call(task, 'read_file', { path: 'same.txt' }, seen, 2))).toBe('same\n');
    appendFileSync(join(directory, 'same.txt'), 'more\n');
    expect(textOf(await call(task, 'read_file', { path: 'same.txt' }, seen))).toBe('same\nmore\n');
  });

  it('an edit needs a read in this task', async () => {
    writeFileSync(join(directory, 'gate.txt'), 'a\n');
    const edit = { path: 'gate.txt', old_text: 'a', new_text: 'b' };
    const refused = await call(newTask(), 'edit_file', edit);
    expect(textOf(refused)).toBe('FAILED_PRECONDITION: gate.txt was not read in this task: read it first');
    expect(refused.result?.outcome).toBe(FAILED);
    const task = newTask();
    await call(task, 'read_file', { path: 'gate.txt' });
    expect((await call(task, 'edit_file', edit)).result?.outcome).toBe(FINISHED);
    // The task knows what it wrote itself: a second edit needs no second read.
    expect((await call(task, 'edit_file', { ...edit, old_text: 'b', new_text: 'c' })).result?.outcome).toBe(FINISHED);
  });

  it('an edit or write of a file that changed meanwhile says what changed, and leaves it alone', async () => {
    const task = newTask();
    writeFileSync(join(directory, 'moved.txt'), 'one\ntwo\nthree\n');
    await call(task, 'read_file', { path: 'moved.txt' });
    writeFileSync(join(directory, 'moved.txt'), 'one\nTWO\nthree\n');
    const expected =
      'FAILED_PRECONDITION: moved.txt has changed since you saw it: lines 2 to 2 are now:\nTWO\nRead it again before changing it.';
    expect(textOf(await call(task, 'edit_file', { path: 'moved.txt', old_text: 'two', new_text: '2' }))).toBe(expected);
    expect(textOf(await call(task, 'write_file', { path: 'moved.txt', content: 'x' }))).toBe(expected);
    expect(readFileSync(join(directory, 'moved.txt'), 'utf8')).toBe('one\nTWO\nthree\n');
  });

  it('writing keeps the mode of a file and leaves no temporary behind', async () => {
    writeFileSync(join(directory, 'run.sh'), '#!/bin/sh\n');
    chmodSync(join(directory, 'run.sh'), 0o755);
    await call(newTask(), 'write_file', { path: 'run.sh', content: '#!/bin/sh\nexit 0\n' });
    expect(statSync(join(directory, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(textOf(await call(newTask(), 'list_files', {}))).not.toContain('.tmp');
  });

  it.each<[string, (at: string, outside: string) => void]>([
    ['what a killed runner left', (at) => writeFileSync(at, 'half of it')],
    ['a link to somewhere else', (at, outside) => symlinkSync(outside, at)],
  ])('%s under the temporary name is replaced, not followed', async (_title, leave) => {
    const outside = join(test.sources, 'outside.txt');
    writeFileSync(outside, 'not the workspace');
    const left = join(directory, temporaryName('fresh.txt'));
    leave(left, outside);
    expect((await call(newTask(), 'write_file', { path: 'fresh.txt', content: 'whole' })).result?.outcome).toBe(FINISHED);
    expect(readFileSync(join(directory, 'fresh.txt'), 'utf8')).toBe('whole');
    expect(readFileSync(outside, 'utf8')).toBe('not the workspace');
    expect(existsSync(left)).toBe(false);
    rmSync(join(directory, 'fresh.txt'));
  });

  it('a small picture is shown, a large one is stored, a binary file is named', async () => {
    writeFileSync(join(directory, 'small.png'), png(20, 10));
    writeFileSync(join(directory, 'large.png'), png(300, 300));
    writeFileSync(join(directory, 'data.bin'), Buffer.from([1, 0, 2]));
    const small = await call(newTask(), 'read_file', { path: 'small.png' });
    expect(small.result?.parts[1]?.kind).toMatchObject({
      case: 'image',
      value: { mediaType: 'image/png', width: 20, height: 10 },
    });
    const large = await call(newTask(), 'read_file', { path: 'large.png' });
    expect(textOf(large)).toMatch(/^\[large.png: image\/png, 300 × 300, \d+ bytes\]\n\[the picture is stored as res_/);
    expect(side.puts.get(large.result?.stored?.id ?? '')).toMatchObject({ mediaType: 'image/png', sourcePath: 'large.png' });
    expect(textOf(await call(newTask(), 'read_file', { path: 'data.bin' }))).toMatch(/^\[data.bin is a binary file of 3 bytes/);
  });

  it('a file too large to hold is read by range and cannot be edited', async () => {
    const line = `${'x'.repeat(99)}\n`;
    writeFileSync(join(directory, 'huge.log'), line.repeat(350_000) + 'the end\n');
    expect(textOf(await call(newTask(), 'read_file', { path: 'huge.log', offset: 350_001 }))).toMatch(
      /^the end\n\n\[lines 350001 to 350001 of a file of 35000008 bytes/,
    );
    expect(textOf(await call(newTask(), 'read_file', { path: 'huge.log', offset: 2, limit: 2 }))).toContain(
      `${line}${line}\n[lines 2 to 3`,
    );
    expect(textOf(await call(newTask(), 'edit_file', { path: 'huge.log', old_text: 'the end', new_text: '' }))).toContain(
      'only read by range',
    );
  });

  it('lists levels and globs, leaves out what is ignored, and searches with bounds', async () => {
    mkdirSync(join(directory, 'deep/er'), { recursive: true });
    writeFileSync(join(directory, 'deep/a.ts'), 'needle\n');
    writeFileSync(join(directory, 'deep/er/b.ts'), 'Needle\nhay\nneedle\n');
    writeFileSync(join(directory, 'deep/er/b.ignored'), 'needle\n');
    writeFileSync(join(directory, 'deep/.ignore'), '*.ignored\n');
    expect(textOf(await call(newTask(), 'list_files', { path: 'deep', depth: 2 }))).toBe('.ignore\na.ts\ner/b.ts');
    expect(textOf(await call(newTask(), 'list_files', { path: 'deep', depth: 1 }))).toBe('.ignore 10\na.ts 7\ner/');
    expect(textOf(await call(newTask(), 'search_files', { pattern: 'needle', path: 'deep' }))).toBe(
      'deep/a.ts:1:needle\ndeep/er/b.ts:3:needle',
    );
    expect(
      textOf(await call(newTask(), 'search_files', { pattern: 'needle', path: 'deep/er/b.ts', ignore_case: true, context: 1 })),
    ).toBe('deep/er/b.ts:1:Needle\ndeep/er/b.ts-2-hay\ndeep/er/b.ts:3:needle');
    expect(textOf(await call(newTask(), 'search_files', { pattern: 'line 1', path: 'long.txt', max_results: 2 }))).toBe(
      'long.txt:1:line 1\nlong.txt:10:line 10\n[only the first 2 lines; narrow the pattern, or set path or glob]',
    );
  });

  it('calls that only read run at the same time', async () => {
    const task = newTask();
    const handle = /cmd_\w+/.exec(textOf(await call(task, 'run_command', { command: 'sleep 60', background: true })))?.[0];
    const started = performance.now();
    const args = { handle, wait_seconds: 1 };
    await Promise.all(Array.from({ length: 8 }, () => call(task, 'command_output', args)));
    expect(performance.now() - started).toBeLessThan(5_000);
    await call(task, 'stop_command', { handle });
  });
});
