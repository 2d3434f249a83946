import { changedLines, head, isBinary } from '../files/text';

const maxShown = 2_000;

/** Says what is different about a file since the task saw it; `before` is undefined when the old content is not at hand. */
export function describeChange(path: string, before: string | undefined, now: Buffer): string {
  const advice = 'Read it again before changing it.';
  if (isBinary(now)) return `${path} has changed since you saw it: it is a binary file of ${now.length} bytes now. ${advice}`;
  const text = now.toString('utf8');
  const lines = text.split('\n').length;
  if (before === undefined)
    return `${path} has changed since you saw it: it has ${lines} lines and ${now.length} bytes now. ${advice}`;
  const change = changedLines(before, text);
  if (!change) return `${path} has changed since you saw it. ${advice}`;
  const range =
    change.newTo < change.from
      ? `after line ${change.from - 1}, lines were removed`
      : `lines ${change.from} to ${change.newTo} are now`;
  const shown = change.now.length > maxShown ? `${head(change.now, maxShown)}\n[…]` : change.now;
  return `${path} has changed since you saw it: ${range}${shown ? `:\n${shown}` : ''}\n${advice}`;
}
