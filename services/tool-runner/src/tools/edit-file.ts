import { NightshiftError } from '@nightshift/contracts';
import { findBeneath } from '../files/beneath';
import { readWhole, sha256 } from '../files/contents';
import { isBinary } from '../files/text';
import { describeChange } from './file-change';
import type { PlanTool } from './tool';
import { planReplacement, refuseRepository } from './write-file';

export const editFile: PlanTool<'edit_file'> = async (args, context) => {
  refuseRepository(args.path);
  const place = findBeneath(context.workspace.record.path, args.path);
  try {
    const content = await readWhole(place);
    if (!content) throw new NightshiftError('NOT_FOUND', `${args.path}: no such file; write_file creates one`);
    const hash = sha256(content);
    const last = context.lastSeen.get(place.path);
    if (last === undefined)
      throw new NightshiftError('FAILED_PRECONDITION', `${place.path} was not read in this task: read it first`);
    if (last !== hash)
      throw new NightshiftError('FAILED_PRECONDITION', describeChange(place.path, context.contents.get(last), content));
    if (isBinary(content)) throw new NightshiftError('INVALID_ARGUMENT', `${place.path} is a binary file`);
    const { text, count } = replaceExactly(
      content.toString('utf8'),
      args.old_text,
      args.new_text,
      args.replace_all ?? false,
      place.path,
    );
    return planReplacement(
      place.path,
      hash,
      text,
      `Edited ${place.path} (${count === 1 ? '1 place' : `${count} places`})`,
      context,
    );
  } finally {
    place.close();
  }
};

/** Replaces by exact match only: a fuzzy one is silently wrong. */
export function replaceExactly(
  text: string,
  oldText: string,
  newText: string,
  all: boolean,
  path: string,
): { text: string; count: number } {
  if (oldText === newText) throw new NightshiftError('INVALID_ARGUMENT', 'old_text and new_text are the same');
  const pieces = text.split(oldText);
  const count = pieces.length - 1;
  if (count === 0) throw new NightshiftError('FAILED_PRECONDITION', `${path}: old_text does not occur${hint(text, oldText)}`);
  if (count > 1 && !all) {
    const lines = positions(text, oldText, 5).join(', ');
    throw new NightshiftError(
      'FAILED_PRECONDITION',
      `${path}: old_text occurs ${count} times (lines ${lines}${count > 5 ? ', …' : ''}); give more of its surroundings, or set replace_all`,
    );
  }
  return { text: pieces.join(newText), count };
}

/** Names the usual reasons why a text is not found. */
function hint(text: string, oldText: string): string {
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(oldText)) return ': the file has CRLF line ends';
  const firstLine = oldText.split('\n').find((line) => line.trim() !== '');
  const trimmed = firstLine?.trim();
  if (!trimmed) return '';
  const at = text.split('\n').findIndex((line) => line.trim() === trimmed);
  return at < 0 ? '' : `: line ${at + 1} is like its first line, but white space or what follows differs`;
}

function positions(text: string, part: string, most: number): number[] {
  const lines: number[] = [];
  let line = 1;
  let from = 0;
  for (let at = text.indexOf(part); at >= 0 && lines.length < most; at = text.indexOf(part, at + part.length)) {
    line += text.slice(from, at).split('\n').length - 1;
    from = at;
    lines.push(line);
  }
  return lines;
}
