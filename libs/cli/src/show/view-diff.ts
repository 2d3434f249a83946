import type { MessageJson, ViewJson } from '../client/shapes';
import { messageLines } from './entries';
import { grouped } from './numbers';

/** A message of one of two views: in both, or only in the earlier or the later one. */
export interface DiffLine {
  readonly fate: 'kept' | 'removed' | 'added';
  readonly lines: readonly string[];
}

/** Pairs compared at most; two views that differ in more messages are shown as wholly different in between. */
const maxPairs = 4_000_000;

/** What two views of a task have in common, message by message, in order. Pure. */
export function diffViews(before: ViewJson, after: ViewJson): DiffLine[] {
  const [from, to] = [before.view?.messages ?? [], after.view?.messages ?? []];
  const [a, b] = [from.map((message) => JSON.stringify(message)), to.map((message) => JSON.stringify(message))];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const line = (fate: DiffLine['fate'], message: MessageJson | undefined): DiffLine => ({
    fate,
    lines: message ? messageLines(message, false) : [],
  });
  return [
    ...from.slice(0, start).map((message) => line('kept', message)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)).map(({ fate, at }) =>
      line(fate, fate === 'added' ? to[start + at] : from[start + at]),
    ),
    ...from.slice(from.length - end).map((message) => line('kept', message)),
  ];
}

/** Lines with `-` and `+` as in a patch; messages that both have are counted only. */
export function viewDiffText(before: ViewJson, after: ViewJson): string[] {
  const lines = [
    `--- generation ${before.generation}, ${grouped(before.tokens)} tokens`,
    `+++ generation ${after.generation}, ${grouped(after.tokens)} tokens`,
    ...(before.view?.system === after.view?.system ? [] : ['  the system prompts differ']),
  ];
  let kept = 0;
  const countKept = (): void => {
    if (kept > 0) lines.push(`  ${kept} message${kept === 1 ? '' : 's'} in both`);
    kept = 0;
  };
  for (const { fate, lines: shown } of diffViews(before, after)) {
    if (fate === 'kept') kept++;
    else {
      countKept();
      lines.push(...shown.map((text) => `${fate === 'added' ? '+' : '-'} ${text}`));
    }
  }
  countKept();
  return lines;
}

/** Longest common subsequence of two lists that share neither beginning nor end. */
function middle(a: readonly string[], b: readonly string[]): { fate: DiffLine['fate']; at: number }[] {
  const all = (fate: DiffLine['fate'], list: readonly string[]) => list.map((_, at) => ({ fate, at }));
  if (a.length * b.length > maxPairs || a.length === 0 || b.length === 0) return [...all('removed', a), ...all('added', b)];
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  const bestAt = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * width + j] = a[i] === b[j] ? bestAt(i + 1, j + 1) + 1 : Math.max(bestAt(i + 1, j), bestAt(i, j + 1));
  const found: { fate: DiffLine['fate']; at: number }[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      found.push({ fate: 'kept', at: i++ });
      j++;
    } else if (j === b.length || (i < a.length && bestAt(i + 1, j) >= bestAt(i, j + 1))) found.push({ fate: 'removed', at: i++ });
    else found.push({ fate: 'added', at: j++ });
  }
  return found;
}
