import type { Move } from '../../answer';
import { textOf } from '../../json';
import { commandOf, lastStep, pathOf, restoreIdIn, spokenTexts, type Step } from '../steps';
import { call, command, listFile, move, planWith, quoted, restoredFile, type View } from './job';
import type { Item } from './plan';

const FAILED_RESTORES_MAX = 4;

/** Ids of hidden reads: as the platform lists them, in placeholders, in previews, and as an earlier extract names them. */
function candidates(view: View): string[] {
  const spoken = spokenTexts(view.conversation);
  const listed = spoken.flatMap((text) =>
    [...text.matchAll(/^- (\S+): read_file, \d+ (?:characters|bytes): /gm)].map(([, id = '']) => id),
  );
  const replaced = view.steps.filter((step) => step.hidden && step.call.name === 'read_file');
  const named = spoken.flatMap((text) => [...text.matchAll(/restorable: id=(\S+) tool=read_file/g)].map(([, id = '']) => id));
  const ids = replaced.map((step) => restoreIdIn(step.result?.text ?? '') ?? step.call.id);
  return [...listed.reverse(), ...ids, ...named];
}

/** Something was hidden by a compaction: only then is there anything to show. */
function compacted(view: View): boolean {
  const told = /Summary of the earlier conversation|Digest of the hidden|Hidden, restorable|Summary of what is hidden/;
  return (
    spokenTexts(view.conversation).some((text) => told.test(text)) ||
    view.steps.some((step) => step.hidden && /moved out/.test(step.result?.text ?? ''))
  );
}

/** What restoring needs next; undefined when nothing is hidden (any more, or yet), or nothing hidden can be restored. */
export function restoreOne(view: View, item: Item): Move | undefined {
  const restores = view.steps.filter((step) => step.call.name === 'restore_tool_result');
  const good = restores.findLast((step) => step.result !== undefined && !step.result.isError && step.result.text.trim() !== '');
  if (good?.result !== undefined) return compareBytes(view, item, good);
  if (restores.length >= FAILED_RESTORES_MAX || !compacted(view)) return undefined;
  const tried = new Set(restores.map((step) => textOf(step.call.arguments['id'])));
  const id = candidates(view).find((candidate) => !tried.has(candidate));
  if (id === undefined) return undefined;
  return move(`Result ${id} was hidden by a compaction; bringing it back.`, call('restore_tool_result', { id }));
}

/** The restored text goes into a file of its own, and cmp compares it with the source byte for byte. */
function compareBytes(view: View, item: Item, restored: Step): Move | undefined {
  const id = textOf(restored.call.arguments['id']);
  const after = view.steps.slice(view.steps.indexOf(restored) + 1);
  const written = lastStep(after, (step) => step.call.name === 'write_file' && pathOf(step) === restoredFile);
  const { content, source } = contentOf(restored.result?.text ?? '');
  if (written === undefined)
    return move(`Writing the restored text of ${id} into a file.`, call('write_file', { path: restoredFile, content }));
  const compared = lastStep(after, (step) => commandOf(step).includes(`| cmp -s - ${restoredFile}`));
  if (compared === undefined)
    return move('Comparing it byte by byte with the file that it was read from.', command(comparison(source)));
  const verdict = /IDENTICAL .*/.exec(compared.result?.text ?? '')?.[0];
  const outcome = verdict === undefined ? 'its file has changed since it was read' : verdict;
  return move(`Restored result ${id}: ${outcome}.`, planWith(view, item.text));
}

/** Against the file that the platform names, else against every file of the list. A read by range is the start of its file. */
function comparison(source: string | undefined): string {
  const files = source === undefined ? `$(cat ${listFile})` : quoted(source);
  const size = `$(wc -c < ${restoredFile})`;
  return `for f in ${files}; do head -c ${size} "$f" | cmp -s - ${restoredFile} && echo IDENTICAL ${size} bytes of $f; done; true`;
}

/** The text without the line that the platform adds below it: which part of the whole it is, and where it came from. */
export function contentOf(text: string): { content: string; source?: string } {
  const footer = /\n\[[^\n]*(?:whole, \d+ characters|characters \d+ to \d+ of \d+)[^\n]*\]\s*$/.exec(text);
  const source = /It was read from (.+), which may/.exec(footer?.[0] ?? '')?.[1];
  return { content: footer === null ? text : text.slice(0, footer.index), ...(source === undefined ? {} : { source }) };
}
