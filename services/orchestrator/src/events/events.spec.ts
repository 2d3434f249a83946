import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const source = path.join(__dirname, '..');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.includes('spec') && !name.startsWith('scripted'),
);
const used = new Set(
  files.flatMap((name) =>
    [...readFileSync(path.join(source, name), 'utf8').matchAll(/\bkind: '([a-z]+(?:_[a-z]+)*)',\s+data/g)].map(
      (match) => match[1],
    ),
  ),
);
const documented = new Set(
  [...readFileSync(path.join(source, '../../../docs/events.md'), 'utf8').matchAll(/^\| (`[^|]+`) \|/gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1]),
  ),
);
/** Kinds that are looked up in a table instead of written as literals. */
const derived = ['plan_updated', 'goal_updated', 'criterion_marked', 'question_asked', 'finished', 'tool_started'];

it('docs/events.md lists exactly the kinds of events that the code writes', () => {
  expect([...documented].sort()).toEqual([...new Set([...used, ...derived])].sort());
});
