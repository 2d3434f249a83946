import type { Move } from '../../answer';
import { textOf } from '../../json';
import { commandOf, lastStep, pathOf, visibleText, type Step } from '../steps';
import {
  attempts,
  call,
  command,
  defineSums,
  inventory,
  listFile,
  move,
  planWith,
  quoted,
  type ToolCall,
  type View,
} from './job';
import type { Item } from './plan';

const ATTEMPTS_MAX = 4;

interface Range {
  readonly number: string;
  readonly from: number;
  readonly to: number;
}

function rangeOf(item: Item): Range | undefined {
  const [, number = '', from = '', to = ''] = /^Batch (\d+): files (\d+) to (\d+)/.exec(item.text) ?? [];
  return number === '' ? undefined : { number, from: Number(from), to: Number(to) };
}

function namesCommand(range: Range): string {
  return `sed -n '${range.from},${range.to}p' ${listFile}`;
}

/** The call that opens a batch; made together with the plan update of the batch before. */
export function openingOf(item: Item | undefined): ToolCall[] {
  const range = item === undefined ? undefined : rangeOf(item);
  return range === undefined ? [] : [command(namesCommand(range))];
}

/** Names, then all reads at once, then the figures, then the rows of the table, then the plan. Every part is looked up in what is visible. */
export function workOnBatch(view: View, item: Item, next: Item | undefined): Move {
  const range = rangeOf(item);
  if (range === undefined) return move('Nothing to do here.', planWith(view, item.text));
  const asked = lastStep(view.steps, (step) => commandOf(step) === namesCommand(range));
  const names = namesIn(visibleText(asked));
  if (names.length === 0 && attempts(view, (step) => commandOf(step) === namesCommand(range)) >= ATTEMPTS_MAX)
    return move(`There are no files in batch ${range.number}.`, planWith(view, item.text), ...openingOf(next));
  if (names.length === 0) return move(`Which files are in batch ${range.number}?`, command(namesCommand(range)));
  const unread = names.filter(
    (name) => !view.steps.some((step) => step.call.name === 'read_file' && pathOf(step) === name && step.result !== undefined),
  );
  if (unread.length > 0) return move(`Reading ${unread.join(', ')}.`, ...unread.map((path) => call('read_file', { path })));
  const figures = figuresCommand(names);
  const text = visibleText(lastStep(view.steps, (step) => commandOf(step) === figures));
  const rows = text === undefined ? [] : rowsOf(names, text);
  if (rows.length < names.length && attempts(view, (step) => commandOf(step) === figures) < ATTEMPTS_MAX)
    return move(`Lines, exports and checksums of batch ${range.number}.`, command(figures));
  return editTable(view, item, range, rows, next);
}

function namesIn(text: string | undefined): string[] {
  return (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^[\w.@/-]+\.(ts|mjs|md|proto)$/.test(line));
}

function figuresCommand(names: readonly string[]): string {
  const files = names.map(quoted).join(' ');
  return `${defineSums}; for f in ${files}; do echo "$f $(wc -l < "$f") $(grep -c '^export' "$f") $(sums < "$f" | cut -c1-64)"; done`;
}

/** One table row per line `name lines exports sha256` of the command. */
function rowsOf(names: readonly string[], text: string): string[] {
  return names.flatMap((name) => {
    const line = text.split('\n').find((candidate) => candidate.trim().startsWith(`${name} `));
    const [, lines = '', exported = '', sum = ''] = /\s(\d+) (\d+) ([0-9a-f]{64})/.exec(line ?? '') ?? [];
    return sum === '' ? [] : [`| ${name} | ${lines} | ${exported} | ${sum} |`];
  });
}

function editTable(view: View, item: Item, range: Range, rows: readonly string[], next: Item | undefined): Move {
  const marker = '<!-- next row -->';
  const first = rows[0] ?? '';
  const isEdit = (step: Step): boolean =>
    step.call.name === 'edit_file' && textOf(step.call.arguments['new_text']).includes(first);
  const presence = `grep -c -F ${quoted(first)} ${inventory}`;
  const edit = lastStep(view.steps, isEdit);
  const finished = (): Move => move(`Batch ${range.number} is in the table.`, planWith(view, item.text), ...openingOf(next));
  if (first === '') return finished();
  if (edit?.result !== undefined && !edit.result.isError) return finished();
  const after = edit === undefined ? [] : view.steps.slice(view.steps.indexOf(edit) + 1);
  const write = (): Move =>
    move(
      `Adding ${rows.length} rows for batch ${range.number}.`,
      call('edit_file', { path: inventory, old_text: marker, new_text: `${rows.join('\n')}\n${marker}` }),
    );
  if (edit === undefined) {
    // After a compaction the edit may be hidden: the file itself says whether the rows are there.
    const checked = lastStep(view.steps, (step) => commandOf(step) === presence);
    if (checked === undefined && compactedBefore(view)) return move('Are these rows in the table already?', command(presence));
    return /^\s*[1-9]\d*\s*$/m.test(checked?.result?.text ?? '') ? finished() : write();
  }
  const checked = lastStep(after, (step) => commandOf(step) === presence);
  if (checked === undefined) return move('The edit was refused; looking whether the rows are there.', command(presence));
  if (/^\s*[1-9]\d*\s*$/m.test(checked.result?.text ?? '')) return finished();
  if (!after.some((step) => step.call.name === 'read_file' && pathOf(step) === inventory))
    return move('Reading the table before trying again.', call('read_file', { path: inventory }));
  return attempts(view, isEdit) < ATTEMPTS_MAX ? write() : finished();
}

/** The start of the job is no longer visible. */
export function compactedBefore(view: View): boolean {
  return !view.steps.some((step) => step.call.name === 'list_files');
}
