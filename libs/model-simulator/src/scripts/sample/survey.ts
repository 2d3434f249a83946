import type { Move } from '../../answer';
import { commandOf, lastStep, pathOf, visibleText } from '../steps';
import { call, command, inventory, listFile, move, quoted, type JobSize, type View } from './job';

const ownCriteria = [
  `${inventory} lists every file of the list with lines, exports and SHA-256`,
  'One tool result hidden by a compaction was restored and its bytes were compared',
  'All checksums of the table were checked against the files',
  'Every script of the repository passes node --check',
];

const skipped = ['node_modules', 'dist', '.git', 'gen', '.inventory', '.nx'];

/** Directories and state of the repository; the goal, where the task came without criteria; then the plan. */
export function survey(view: View): Move {
  const looked = lastStep(view.steps, (step) => step.call.name === 'list_files');
  if (view.items.length === 0 && looked === undefined)
    return move(
      'I will make an inventory of the source files. First a look at the repository.',
      call('list_files', { path: '.' }),
      command('git status --short | head -20; git rev-parse --short HEAD'),
      command(countCommand(view.size)),
    );
  const counted = lastStep(view.steps, (step) => commandOf(step) === countCommand(view.size));
  const count = Number(
    /(\d+)/.exec(
      visibleText(counted)
        ?.split('\n')
        .find((line) => /^\s*\d+\s*$/.test(line)) ?? '',
    )?.[1] ?? NaN,
  );
  if (Number.isNaN(count)) {
    if (counted === undefined || view.steps.filter((step) => commandOf(step) === countCommand(view.size)).length < 3)
      return move('Counting the source files.', command(countCommand(view.size)));
  }
  const files = Math.min(view.size.files, Number.isNaN(count) ? view.size.files : count);
  const plan = call('update_plan', { items: plannedItems(files, view.size.perBatch) });
  const goal = view.criteria.length === 0 ? [call('set_goal', { criteria: ownCriteria })] : [];
  return move(`There are ${count} source files; the inventory takes ${files} of them.`, ...goal, plan);
}

function countCommand(size: JobSize): string {
  return `find . ${findExpression(size)} -print | wc -l`;
}

function findExpression({ smallestBytes, largestBytes }: JobSize): string {
  const pruned = skipped.map((name) => `-name ${quoted(name)}`).join(' -o ');
  return `\\( ${pruned} \\) -prune -o -type f \\( -name '*.ts' -o -name '*.mjs' -o -name '*.proto' -o -name '*.md' \\) -size +${smallestBytes}c -size -${largestBytes}c`;
}

function plannedItems(files: number, perBatch: number): { text: string; state: string }[] {
  const texts = ['Survey: look at the repository', `List: choose ${files} files`];
  for (let from = 1, number = 1; from <= files; from += perBatch, number++)
    texts.push(`Batch ${String(number).padStart(2, '0')}: files ${from} to ${Math.min(files, from + perBatch - 1)}`);
  texts.push(
    'Search: open ends in the sources',
    'Scripts: check the syntax',
    'Restore: bring one hidden result back and compare its bytes',
    'Verify: check all checksums',
    'Close: mark the criteria and finish',
  );
  return texts.map((text, index) => ({ text, state: index === 0 ? 'done' : index === 1 ? 'doing' : 'todo' }));
}

/** The list of files lies in the workspace, so that it survives any compaction, and the table starts empty. */
export function makeList(view: View): Move | 'done' {
  const { files } = view.size;
  const make = `mkdir -p .inventory && find . ${findExpression(view.size)} -print | sed 's|^\\./||' | LC_ALL=C sort | head -${files} > ${listFile}; wc -l < ${listFile}; head -3 ${listFile}`;
  const made = lastStep(view.steps, (step) => commandOf(step) === make);
  const text = visibleText(made);
  if (text === undefined) return move('Writing the list of files into the workspace.', command(make));
  const written = lastStep(view.steps, (step) => step.call.name === 'write_file' && pathOf(step) === inventory);
  if (written?.result === undefined || written.result.isError) {
    const listed = /(\d+)/.exec(text.split('\n').find((line) => /^\s*\d+\s*$/.test(line)) ?? '')?.[1] ?? '?';
    const directories = directoriesIn(visibleText(lastStep(view.steps, (step) => step.call.name === 'list_files')) ?? '');
    const content = `# Inventory\n\n${listed} files, chosen from ${directories.length > 0 ? directories.join(', ') : 'the repository'}.\n\n| file | lines | exports | sha256 |\n| --- | --- | --- | --- |\n<!-- next row -->\n`;
    return move('Starting the inventory.', call('write_file', { path: inventory, content }));
  }
  return 'done';
}

function directoriesIn(listing: string): string[] {
  return [...listing.matchAll(/^\W*([\w.-]+)\/\s*$/gm)].map(([, name = '']) => name).slice(0, 12);
}
