import { create } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import { head } from '../text/cut';
import { fenced } from '../text/fence';
import { reinjectedPart } from '../view/checkpoint-message';
import type { Meter } from './meter';

/** At most this many files are shown again. */
const fileLimit = 5;
/** At most this many characters of each. */
const fileChars = 8_000;

/** The most recently edited files with their current content, newest first, within a budget (plain estimate, tokens). */
export function chooseFiles(files: readonly compaction.EditedFile[], budget: number, meter: Meter): compaction.Reinjected[] {
  const newest = files
    .filter((file) => !file.unreadable)
    .toSorted((a, b) => (a.editedAtMs === b.editedAtMs ? (a.path < b.path ? -1 : 1) : a.editedAtMs > b.editedAtMs ? -1 : 1));
  const chosen: compaction.Reinjected[] = [];
  let left = budget;
  for (const file of newest.slice(0, fileLimit)) {
    const item = fileWithin(file, left, meter);
    if (!item) break;
    chosen.push(item);
    left -= meter.text(reinjectedPart(item));
  }
  return chosen;
}

/** As much of a file as fits; undefined when not even a useful beginning does. */
function fileWithin(file: compaction.EditedFile, budget: number, meter: Meter): compaction.Reinjected | undefined {
  for (let chars = Math.min(fileChars, file.content.length); ; chars = Math.floor(chars * 0.7)) {
    const item = fileItem(file, head(file.content, chars));
    if (meter.text(reinjectedPart(item)) <= budget) return item;
    if (chars < 200) return undefined;
  }
}

function fileItem(file: compaction.EditedFile, shown: string): compaction.Reinjected {
  const bytes = Buffer.byteLength(file.content, 'utf8');
  const cutBefore = file.totalBytes > bytes;
  const whole = shown.length === file.content.length && !cutBefore;
  const extent = whole
    ? 'full'
    : `first ${shown.length} of ${cutBefore ? `${file.totalBytes} bytes` : `${file.content.length} characters`}`;
  return create(compaction.ReinjectedSchema, { kind: 'file', label: `${file.path} (${extent})`, text: fenced(file.path, shown) });
}
