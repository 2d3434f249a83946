import type { Move } from '../../answer';
import { textOf } from '../../json';
import { commandOf, lastStep, pathOf, restoreIdIn, spokenTexts, type Step } from '../steps';
import { call, command, move, planWith, quoted, restoredFile, type View } from './job';
import type { Item } from './plan';

interface Candidate {
  readonly id: string;
  readonly path: string;
}

const FAILED_RESTORES_MAX = 3;

/** Hidden reads: placeholders that are visible, and those that a summary names. */
function candidates(view: View): Candidate[] {
  const placeholders = view.steps.flatMap((step): Candidate[] => {
    if (!step.hidden || step.call.name !== 'read_file') return [];
    return [{ id: restoreIdIn(step.result?.text ?? '') ?? step.call.id, path: pathOf(step) }];
  });
  const named = spokenTexts(view.conversation).flatMap((text) =>
    [...text.matchAll(/restorable: id=(\S+) tool=read_file path=(\S+)/g)].map(([, id = '', path = '']) => ({ id, path })),
  );
  return [...placeholders, ...named].filter((candidate) => candidate.path.endsWith('.ts') || candidate.path.endsWith('.mjs'));
}

/** What restoring needs next; undefined when nothing is hidden (any more, or yet), or nothing hidden can be restored. */
export function restoreOne(view: View, item: Item): Move | undefined {
  const restores = view.steps.filter((step) => step.call.name === 'restore_tool_result');
  const good = restores.findLast((step) => step.result !== undefined && !step.result.isError && step.result.text.trim() !== '');
  if (good !== undefined && good.hidden) return undefined;
  if (good?.result !== undefined) return compareBytes(view, item, good);
  if (restores.length >= FAILED_RESTORES_MAX) return undefined;
  const tried = new Set(restores.map((step) => textOf(step.call.arguments['id'])));
  const candidate = candidates(view).find(({ id }) => !tried.has(id));
  if (candidate === undefined) return undefined;
  return move(
    `The read of ${candidate.path} was hidden by a compaction; bringing it back.`,
    call('restore_tool_result', { id: candidate.id }),
  );
}

/** The restored text goes into a file of its own, and cmp compares it with the source byte for byte. */
function compareBytes(view: View, item: Item, restored: Step): Move | undefined {
  const id = textOf(restored.call.arguments['id']);
  const path = pathRestored(view, id);
  if (path === undefined) return undefined;
  const text = restored.result?.text ?? '';
  const after = view.steps.slice(view.steps.indexOf(restored) + 1);
  const written = lastStep(after, (step) => step.call.name === 'write_file' && pathOf(step) === restoredFile);
  if (written === undefined)
    return move(
      `Writing the restored text next to ${path}.`,
      call('write_file', { path: restoredFile, content: plainContent(text) }),
    );
  const compare = `head -c $(wc -c < ${restoredFile}) ${quoted(path)} | cmp - ${restoredFile} && echo IDENTICAL $(wc -c < ${restoredFile}) bytes of $(wc -c < ${quoted(path)})`;
  const compared = lastStep(after, (step) => commandOf(step) === compare);
  if (compared === undefined) return move('Comparing it byte by byte.', command(compare));
  const verdict = /IDENTICAL \d+ bytes of \d+/.exec(compared.result?.text ?? '')?.[0];
  if (verdict === undefined) return undefined;
  return move(`Restored ${path} from result ${id}: ${verdict}.`, planWith(view, item.text));
}

function pathRestored(view: View, id: string): string | undefined {
  return candidates(view).find((candidate) => candidate.id === id)?.path;
}

/** Takes line numbers and a frame of headers off, where a tool adds them. */
export function plainContent(text: string): string {
  const lines = text.split('\n');
  const numbered = lines.filter((line) => /^\s*\d+(?:\t|→|\| ?|: )/.test(line)).length;
  if (numbered < lines.length * 0.8) return text;
  return lines.map((line) => line.replace(/^\s*\d+(?:\t|→|\| ?|: )/, '')).join('\n');
}
