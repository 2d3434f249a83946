import { numberOf } from '../../json';
import { purposeOf } from '../purpose';
import type { Script, ScriptOptions } from '../script';
import { condense, summarise } from '../summary';
import { openingOf, workOnBatch } from './batch';
import { checkScripts, close, searchSources, verifyTable } from './closing';
import { move, planWith, viewOf, type JobSize, type View } from './job';
import { kindOf, type Item } from './plan';
import { restoreOne } from './restore';
import { makeList, survey } from './survey';
import type { Move } from '../../answer';

/**
 * A long, real job: an inventory of the source files of a repository, with figures that come from commands. Progress is
 * read from the transcript alone (the checklist, visible calls and results) and, where that is not enough, from the workspace.
 */
export const sample = (options: ScriptOptions): Script => {
  const size: JobSize = {
    files: numberOf(options['files']) ?? 54,
    perBatch: numberOf(options['perBatch']) ?? 3,
    smallestBytes: numberOf(options['smallestBytes']) ?? 4_000,
    largestBytes: numberOf(options['largestBytes']) ?? 16_000,
  };
  return {
    next: (conversation) => {
      const purpose = purposeOf(conversation);
      if (purpose === 'summary') return summarise(conversation);
      if (purpose === 'condense') return condense(conversation);
      return nextMove(viewOf(conversation, size));
    },
  };
};

function nextMove(view: View): Move {
  if (view.items.length === 0) return survey(view);
  const open = view.items.filter((item) => item.state !== 'done');
  // A hidden result can only be restored once something was hidden: at the first chance, whatever is next in the plan.
  const restore = open.find((item) => kindOf(item) === 'Restore');
  const restoring = restore === undefined ? undefined : restoreOne(view, restore);
  if (restoring !== undefined) return restoring;
  const [item, next] = open.filter((candidate) => candidate !== restore);
  if (item === undefined) return close(view);
  return workOn(view, item, next);
}

function workOn(view: View, item: Item, next: Item | undefined): Move {
  switch (kindOf(item)) {
    case 'Survey':
      return move('The repository was looked at.', planWith(view, item.text));
    case 'List': {
      const made = makeList(view);
      return made === 'done' ? move('The list is made.', planWith(view, item.text), ...openingOf(next)) : made;
    }
    case 'Batch':
      return workOnBatch(view, item, next);
    case 'Search':
      return searchSources(view, item);
    case 'Scripts':
      return checkScripts(view, item);
    case 'Verify':
      return verifyTable(view, item);
    case 'Restore':
    case 'Close':
      return close(view);
  }
}
