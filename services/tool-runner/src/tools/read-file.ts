import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { asFault, findBeneath, type Place } from '../files/beneath';
import { maxWholeBytes, readWhole, refuseOther, sha256 } from '../files/contents';
import { imageOf } from '../files/image';
import { head, isBinary, lineStarts } from '../files/text';
import { NightshiftError, type WorkspaceToolArguments } from '@nightshift/contracts';
import { answer, failure } from './answer';
import type { Answer, PlanTool, ToolContext } from './tool';

type Arguments = WorkspaceToolArguments<'read_file'>;
/** Larger pictures are refused by every provider. */
const maxImageBytes = 5 * 1024 * 1024;

export const readFile: PlanTool<'read_file'> = async (args, context) => ({
  perform: async () => {
    const place = findBeneath(context.workspace.record.path, args.path);
    try {
      if (place.stats === undefined) throw new NightshiftError('NOT_FOUND', `${args.path}: no such file or directory`);
      refuseOther(place);
      return place.stats.size > maxWholeBytes ? await readLarge(place, args, context) : await read(place, args, context);
    } finally {
      place.close();
    }
  },
});

async function read(place: Place, args: Arguments, context: ToolContext): Promise<Answer> {
  const content = (await readWhole(place)) ?? Buffer.alloc(0);
  const hash = sha256(content);
  const image = imageOf(content);
  if (image) return content.length <= maxImageBytes ? showImage(place, content, hash, image) : tooLarge(place, content.length);
  if (isBinary(content))
    return answer(`[${place.path} is a binary file of ${content.length} bytes, sha256 ${hash}; it is not shown]`);

  const whole = args.offset === undefined && args.limit === undefined;
  const before = context.recorded.get(place.path);
  if (whole && before?.readInWhole && before.readGeneration === context.generation && before.sha256 === hash) {
    return answer(`[${place.path} is unchanged since you read it (sha256 ${hash}); its content is above]`, {
      seen: [{ path: place.path, sha256: hash, readGeneration: context.generation, readInWhole: true }],
    });
  }
  const text = content.toString('utf8');
  context.contents.remember(hash, text);
  const cut = cutLines(text, args.offset ?? 1, args.limit ?? Number.MAX_SAFE_INTEGER, context.readChars);
  return answer(cut.text, {
    parts: cut.note ? [{ text: cut.text }, { text: cut.note }] : [{ text: cut.text }],
    seen: [{ path: place.path, sha256: hash, readGeneration: context.generation, readInWhole: cut.whole }],
    source: { path: place.path, sha256: hash },
  });
}

interface Cut {
  text: string;
  note: string;
  whole: boolean;
}

/** Whole lines from `offset` (counted from 1), at most `limit` of them and at most `maxChars` characters. */
export function cutLines(text: string, offset: number, limit: number, maxChars: number): Cut {
  if (text === '') return { text: '', note: '[the file is empty]', whole: true };
  const starts = lineStarts(text);
  const total = starts.length;
  if (offset > total) return { text: '', note: `[the file has ${total} lines; line ${offset} does not exist]`, whole: false };
  const begin = starts[offset - 1] as number;
  const fits = (line: number): boolean => (starts[line] ?? text.length) - begin <= maxChars;
  let last = Math.min(total, offset + limit - 1);
  if (!fits(last)) {
    // Binary search for the last line that fits.
    let low = offset - 1;
    while (low < last) {
      const middle = Math.ceil((low + last) / 2);
      if (fits(middle)) low = middle;
      else last = middle - 1;
    }
  }
  if (last < offset) {
    const line = text.slice(begin, starts[offset] ?? text.length);
    const next = offset < total ? `; go on with offset ${offset + 1}` : '';
    return {
      text: head(line, maxChars),
      note: `[line ${offset} of ${total} has ${line.length} characters, ${maxChars} are shown${next}]`,
      whole: false,
    };
  }
  const shown = text.slice(begin, starts[last] ?? text.length);
  if (offset === 1 && last === total) return { text: shown, note: '', whole: true };
  const next = last < total ? `; go on with offset ${last + 1}` : '';
  return { text: shown, note: `[lines ${offset} to ${last} of ${total}${next}]`, whole: false };
}

/** A range of a file too large to hold: read from the start up to the end of the range, in bounded memory. */
async function readLarge(place: Place, args: Arguments, context: ToolContext): Promise<Answer> {
  const from = args.offset ?? 1;
  const limit = args.limit ?? Number.MAX_SAFE_INTEGER;
  const file = await open(place.at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    throw asFault(error, place.path);
  });
  let line = 1;
  let text = '';
  const decoder = new TextDecoder('utf-8');
  try {
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
      context.signal.throwIfAborted();
      if (line === 1 && text === '' && chunk.subarray(0, 8192).includes(0)) {
        return answer(`[${place.path} is a binary file of ${place.stats?.size} bytes; it is not shown]`);
      }
      let at = 0;
      while (at < chunk.length && line < from + limit && text.length <= context.readChars) {
        const end = chunk.indexOf(10, at);
        const stop = end < 0 ? chunk.length : end + 1;
        if (line >= from) text += decoder.decode(chunk.subarray(at, stop), { stream: true });
        if (end >= 0) line++;
        at = stop;
      }
      if (line >= from + limit || text.length > context.readChars) break;
    }
  } finally {
    await file.close();
  }
  const shown = cutLines(text, 1, limit, context.readChars).text;
  const lines = lineStarts(shown).length;
  const note = `[lines ${from} to ${from + lines - 1} of a file of ${place.stats?.size} bytes; it is too large to be read in whole or edited]`;
  return answer(shown, { parts: [{ text: shown }, { text: note }] });
}

function showImage(
  place: Place,
  data: Buffer,
  hash: string,
  image: { mediaType: string; width: number; height: number },
): Answer {
  return answer('', {
    parts: [
      { text: `[${place.path}: ${image.mediaType}, ${image.width} × ${image.height}, ${data.length} bytes]` },
      { image: { ...image, data } },
    ],
    source: { path: place.path, sha256: hash },
  });
}

function tooLarge(place: Place, bytes: number): Answer {
  return failure(`${place.path} is an image of ${bytes} bytes; images above ${maxImageBytes} bytes are not shown`);
}
