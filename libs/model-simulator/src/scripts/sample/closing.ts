import type { Move } from '../../answer';
import { textOf } from '../../json';
import { commandOf, lastStep, visibleText, type Step } from '../steps';
import { attempts, call, command, defineSums, inventory, move, planWith, type View } from './job';
import type { Item } from './plan';

const ATTEMPTS_MAX = 3;

/** Two searches whose hits are counted, noted below the table. */
export function searchSources(view: View, item: Item): Move {
  const searches = view.steps.filter((step) => step.call.name === 'search_files');
  if (searches.length === 0)
    return move(
      'Looking for open ends.',
      call('search_files', { pattern: 'TODO|FIXME', max_results: 50 }),
      call('search_files', { pattern: 'process\\.env', path: 'libs', max_results: 50 }),
    );
  const note = lastStep(
    view.steps,
    (step) => step.call.name === 'edit_file' && textOf(step.call.arguments['new_text']).includes('Open ends'),
  );
  if (note === undefined) {
    const hits = searches.map((step) => (step.result?.text ?? '').split('\n').filter((line) => /:\d+/.test(line)).length);
    const text = `<!-- next row -->\n\nOpen ends: ${hits[0] ?? 0} lines with a mark, ${hits[1] ?? 0} lines that read the environment.`;
    return move('Noting what was found.', call('edit_file', { path: inventory, old_text: '<!-- next row -->', new_text: text }));
  }
  return move('The searches are noted.', planWith(view, item.text));
}

/** The names come from the listing; each script is checked by a call of its own, all at once. */
export function checkScripts(view: View, item: Item): Move {
  const listing = lastStep(view.steps, (step) => step.call.name === 'list_files' && step.call.arguments['path'] === 'scripts');
  if (listing?.result === undefined) return move('Which scripts are there?', call('list_files', { path: 'scripts' }));
  const names = [...new Set([...listing.result.text.matchAll(/([\w.-]+\.(?:mjs|cjs))/g)].map(([, name = '']) => name))].slice(
    0,
    6,
  );
  const checked = view.steps.filter((step) => commandOf(step).startsWith('node --check '));
  if (checked.length === 0 && names.length > 0)
    return move('Checking their syntax.', ...names.map((name) => command(`node --check scripts/${name} && echo OK ${name}`)));
  return move(`${names.length} scripts were checked.`, planWith(view, item.text));
}

const recheck = `${defineSums}; grep -E '^\\| .* \\| [0-9a-f]{64} \\|$' ${inventory} | awk -F' *\\\\| *' '{print $5"  "$2}' > .inventory/sums.txt; sums -c .inventory/sums.txt > .inventory/check.txt 2>&1 && echo "ALL $(wc -l < .inventory/sums.txt) ROWS MATCH"; wc -l < .inventory/files.txt`;

/** All rows of the table against the files. */
export function verifyTable(view: View, item: Item): Move {
  const run = lastStep(view.steps, (step) => commandOf(step) === recheck);
  if (visibleText(run) === undefined && attempts(view, (step) => commandOf(step) === recheck) < ATTEMPTS_MAX)
    return move('Checking every row of the table against its file.', command(recheck));
  return move(`The check says: ${verdictOf(run)}.`, planWith(view, item.text));
}

function verdictOf(run: Step | undefined): string {
  return /ALL \d+ ROWS MATCH/.exec(run?.result?.text ?? '')?.[0] ?? 'not all rows match';
}

/** Marks what is open, each with evidence, and finishes. A refused finish names what is open: it is marked then. */
export function close(view: View): Move {
  const run = lastStep(view.steps, (step) => commandOf(step) === recheck);
  if (visibleText(run) === undefined && attempts(view, (step) => commandOf(step) === recheck) < ATTEMPTS_MAX)
    return move('One last look at the table.', command(recheck));
  const verdict = verdictOf(run);
  const restored = view.items.some((item) => item.text.startsWith('Restore') && item.state === 'done');
  const evidence = `${verdict} (checksums over ${inventory}); ${restored ? 'a hidden result was restored and cmp found it identical' : 'no hidden result had to be restored'}; node --check passed.`;
  const open = view.criteria.filter((criterion) => !criterion.done);
  const marked = new Set(
    view.steps.filter((step) => step.call.name === 'mark_criterion').map((step) => textOf(step.call.arguments['id'])),
  );
  const unmarked = open.filter(({ id }) => !marked.has(id));
  if (unmarked.length > 0)
    return move(
      'Everything is done; marking the criteria.',
      ...unmarked.map(({ id }) => call('mark_criterion', { id, evidence })),
    );
  const done = view.items.filter((item) => item.text.startsWith('Batch') && item.state === 'done').length;
  const result = `${inventory} is complete: ${done} batches. ${evidence}`;
  return move('Finishing.', call('finish', { result }));
}
