import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { tool, transcript } from '@nightshift/contracts';
import { head, tail } from '../files/text';
import type { Answer, AnswerPart } from '../tools/tool';

/** Bytes of text a result may carry; a command holds 64 KB. */
const maxTextBytes = 40 * 1024;
/** Bytes of a picture that stay in the result. */
const maxImageBytes = 20 * 1024;
/** Characters of a preview's beginning and end: below 3 000 with the line between them. */
const previewHead = 2_000;
const previewTail = 700;
/** Changes and seen files a result may name; a call of ours touches one. */
const maxFiles = 50;

/** A content that goes into the store, and what the result says instead of it, given its reference. */
export interface Spill {
  content: Uint8Array;
  mediaType: string;
  sourcePath: string;
  sourceSha256: string;
  shown: (reference: { id: string; sha256: string; bytes: number }) => transcript.Part[];
}

/**
 * What of an answer has to be stored; undefined when all of it fits the result.
 * @param spillChars text above this many characters is stored.
 */
export function spillOf(answer: Answer, spillChars: number): Spill | undefined {
  const source = { sourcePath: answer.source?.path ?? '', sourceSha256: answer.source?.sha256 ?? '' };
  const image = answer.parts.flatMap((part) => ('image' in part ? [part.image] : []))[0];
  if (image && image.data.length > maxImageBytes) {
    const texts = answer.parts.filter((part) => 'text' in part).map(toPart);
    return {
      ...source,
      content: image.data,
      mediaType: image.mediaType,
      shown: ({ id }) => [...texts, textPart(`[the picture is stored as ${id}: restore_tool_result shows it]`)],
    };
  }
  const text = answer.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
  const bytes = Buffer.byteLength(text);
  if (text.length <= spillChars && bytes <= maxTextBytes) return undefined;
  return {
    ...source,
    content: Buffer.from(text, 'utf8'),
    mediaType: 'text/plain; charset=utf-8',
    shown: ({ id }) => [textPart(preview(text, id))],
  };
}

/** Beginning and end of a long text with the id under which all of it can be had. */
export function preview(text: string, id: string): string {
  const left = text.length - previewHead - previewTail;
  if (left <= 0) return `${text}\n[stored as ${id}]`;
  return `${head(text, previewHead)}\n[… ${left} of ${text.length} characters left out; restore_tool_result with id ${id} gives all of it, a range, or the lines that match …]\n${tail(text, previewTail)}`;
}

interface Facts {
  taskId: string;
  callId: string;
  tool: string;
  runner: string;
  ms: number;
  replayed: boolean;
}

/** The command that reports a call. `stored` is the reference of what was spilled. */
export function finishedOf(
  answer: Answer,
  facts: Facts,
  spill: Spill | undefined,
  stored: { id: string; sha256: string; bytes: number } | undefined,
): MessageInitShape<typeof tool.FinishedSchema> {
  return {
    taskId: facts.taskId,
    callId: facts.callId,
    runner: facts.runner,
    ms: facts.ms,
    replayedFromJournal: facts.replayed,
    processesEnded: answer.processesEnded,
    result: create(transcript.ToolResultSchema, {
      callId: facts.callId,
      tool: facts.tool,
      parts: spill && stored ? spill.shown(stored) : answer.parts.map(toPart),
      isError: answer.isError,
      outcome: answer.outcome,
      ...(stored ? { stored: create(transcript.StoredReferenceSchema, stored) } : {}),
    }),
    seen: answer.seen.slice(0, maxFiles).map((seen) => create(tool.SeenFileSchema, seen)),
    changes: answer.changes.slice(0, maxFiles).map((change) => create(tool.FileChangeSchema, change)),
  };
}

function toPart(part: AnswerPart): transcript.Part {
  if ('text' in part) return textPart(part.text);
  return create(transcript.PartSchema, { kind: { case: 'image', value: create(transcript.ImageSchema, part.image) } });
}

function textPart(text: string): transcript.Part {
  return create(transcript.PartSchema, { kind: { case: 'text', value: text.toWellFormed() } });
}
