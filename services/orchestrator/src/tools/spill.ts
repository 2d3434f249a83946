import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';

/** A preview stays below 3 000 characters, the note included. */
const headChars = 1_800;
const tailChars = 800;

/** The result with a preview in place of its text; the whole lies in the store under `stored`. */
export function spilledResult(
  result: transcript.ToolResult,
  text: string,
  stored: { readonly id: string; readonly sha256: string; readonly bytes: number },
): transcript.ToolResult {
  const images = result.parts.filter(({ kind }) => kind.case === 'image');
  return create(transcript.ToolResultSchema, {
    ...result,
    parts: [create(transcript.PartSchema, { kind: { case: 'text', value: preview(text, stored.id) } }), ...images],
    stored: create(transcript.StoredReferenceSchema, { id: stored.id, sha256: stored.sha256, bytes: stored.bytes }),
  });
}

/** Head and tail of a long text with how to get the rest. Cuts never split a surrogate pair. */
export function preview(text: string, id: string, head = headChars, tail = tailChars): string {
  const start = text.slice(0, wholeAt(text, head));
  const end = text.slice(wholeAt(text, text.length - tail));
  const hint = `[${text.length} characters in all; the rest is stored: restore_tool_result {"id":"${id}"} with offset and limit, or search]`;
  return `${start}\n…\n${end}\n${hint}`;
}

/** The cut position, moved back by one where it would fall inside a surrogate pair. */
function wholeAt(text: string, position: number): number {
  const code = text.charCodeAt(position);
  return code >= 0xdc00 && code <= 0xdfff ? position - 1 : position;
}
