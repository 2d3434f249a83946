import { create } from '@bufbuild/protobuf';
import { previewOf } from '@nightshift/compaction';
import { transcript } from '@nightshift/contracts';

/** The result with a preview in place of its text; the whole lies in the store under `stored`. */
export function spilledResult(
  result: transcript.ToolResult,
  text: string,
  stored: { readonly id: string; readonly sha256: string; readonly bytes: number },
  maxChars: number,
): transcript.ToolResult {
  const images = result.parts.filter(({ kind }) => kind.case === 'image');
  const preview = previewOf({ text, storedId: stored.id, maxChars });
  return create(transcript.ToolResultSchema, {
    ...result,
    parts: [create(transcript.PartSchema, { kind: { case: 'text', value: preview } }), ...images],
    stored: create(transcript.StoredReferenceSchema, { id: stored.id, sha256: stored.sha256, bytes: stored.bytes }),
  });
}
