import type { MessageInitShape } from '@bufbuild/protobuf';
import type { toolresult } from '@nightshift/contracts';
import type { StoredResult } from '../results/result.store';
import { searchLines } from './line-search';
import { textRange } from './text-range';

export type RestoreReply = MessageInitShape<typeof toolresult.RestoreReplySchema>;
export type RestoreQuestion = Pick<toolresult.RestoreRequest, 'offset' | 'limit' | 'search' | 'maxChars'>;

/** What restore_tool_result answers for these bytes: an image as it is, else text, whole or in part. */
export function restore(record: StoredResult, content: Uint8Array, question: RestoreQuestion): RestoreReply {
  const { tool, mediaType, sourcePath, sourceSha256, bytes } = record;
  const about = { tool, mediaType, sourcePath, sourceSha256, sha256: record.sha256.toString('hex'), totalBytes: bytes };
  if (mediaType.startsWith('image/')) return { ...about, data: content };
  // Buffer, not TextDecoder: a byte order mark is part of the text.
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
  const totalChars = text.length;
  if (question.search) return { ...about, totalChars, ...searchLines(text, question) };
  return { ...about, totalChars, ...textRange(text, question.offset, question.limit, question.maxChars) };
}
