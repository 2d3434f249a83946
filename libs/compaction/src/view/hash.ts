import { toBinary } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { createHash } from 'node:crypto';

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Hash of a whole view: equal exactly when the request would be. */
export function viewHash(view: transcript.View): string {
  return sha256(toBinary(transcript.ViewSchema, view));
}

/** Hash of what stands before the messages; a usage report holds only while it stays the same. */
export function prefixHash(prefix: { readonly system: string; readonly tools: readonly transcript.ToolSchema[] }): string {
  const hash = createHash('sha256').update(prefix.system);
  for (const tool of prefix.tools) hash.update(`\0${tool.name}\0${tool.description}\0${tool.inputSchemaJson}`);
  return hash.digest('hex');
}
