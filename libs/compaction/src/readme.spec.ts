import { transformSync } from '@swc/core';
import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { appendEntries } from './conformance/notation';
import { MemoryStore } from './conformance/memory-store';
import { summarizers } from './conformance/summarizers';
import * as library from './index';

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');

test('the usage in the README is ten lines, and works', async () => {
  const code = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const [imported, ...body] = code.split('\n').filter((line) => line.trim() !== '');
  const names = /import \{ ([^}]+) \} from '@nightshift\/compaction'/.exec(imported ?? '')?.[1]?.split(', ') ?? [];
  expect(names.filter((name) => !(name in library))).toEqual([]);
  expect(body).toHaveLength(9);

  const entries: transcript.Entry[] = [];
  appendEntries(entries, [{ user: 'go' }, { rounds: 20, text: { kind: 'prose', chars: 4_000 } }]);
  const checkpoints: compaction.Checkpoint[] = [];
  const messagesEstimate = entries.reduce((sum, entry) => sum + library.estimateEntry(entry), 0);
  const measured = { provider: 'p', model: 'm', prefixSha256: '', prefixEstimate: 0, appendedEstimate: 0, messagesEstimate };
  const task = { system: 'rules', tools: [], entries, generation: 0, goalAndPlan: [], lastUsage: undefined, ...measured };
  const script = transformSync(`(async () => { ${body.join('\n')}\nreturn view; })()`, { jsc: { target: 'es2022' } }).code;
  const globals = {
    ...library,
    task,
    checkpoints,
    store: new MemoryStore(),
    summarize: summarizers.extractive,
    Date,
    performance,
  };
  const view = (await runInNewContext(script, globals)) as transcript.View;
  expect(checkpoints.map(({ generation }) => generation)).toEqual([1]);
  expect(view.messages.length).toBeLessThan(entries.length);
  expect(create(compaction.CheckpointSchema, checkpoints[0]).viewSha256).toBe(library.viewHash(view));
  expect(checkpoints[0]?.summary).toContain('Next step');
});

test('every folder that the README names exists', () => {
  const folders = [...readme.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? '');
  expect(folders.length).toBeGreaterThan(5);
  expect(folders.filter((folder) => !existsSync(join(__dirname, folder)))).toEqual([]);
});

test('every test that the conformance document names outside this library exists', () => {
  const root = join(__dirname, '../../..');
  const document = readFileSync(join(root, 'docs/conformance.md'), 'utf8');
  const named = [...document.matchAll(/^\| B[\d, B]+ \|[^|]+\| `([^`]+)`: (.+) \|$/gm)].map(([, file = '', title = '']) => ({
    file,
    title,
  }));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ file, title }) => !readFileSync(join(root, file), 'utf8').includes(title))).toEqual([]);
});
