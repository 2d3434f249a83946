import { createHash } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { NightshiftError, routes, toolresult } from '@nightshift/contracts';

/** The tool-result store's side: same id, same bytes, and pages that are smaller than what was put. */
@Controller()
export class ScriptedStore {
  static records = new Map<string, Uint8Array>();
  static readonly pageBytes = 30_000;

  @MessagePattern(routes.toolresultPut.subject)
  put(@Payload() request: toolresult.PutRequest): MessageInitShape<typeof toolresult.PutReplySchema> {
    const { id, content } = request;
    const known = ScriptedStore.records.get(id);
    if (known && Buffer.compare(known, content) !== 0) throw new NightshiftError('CONFLICT', `${id} has other content`);
    ScriptedStore.records.set(id, content);
    return {
      id,
      sha256: createHash('sha256').update(content).digest('hex'),
      bytes: content.length,
      deduplicated: known !== undefined,
    };
  }

  @MessagePattern(routes.toolresultGet.subject)
  get(@Payload() request: toolresult.GetRequest): MessageInitShape<typeof toolresult.GetReplySchema> {
    const content = ScriptedStore.records.get(request.id);
    if (!content) throw new NightshiftError('NOT_FOUND', request.id);
    const end = request.offset + ScriptedStore.pageBytes;
    return { content: content.subarray(request.offset, end), totalBytes: content.length, more: end < content.length };
  }
}
