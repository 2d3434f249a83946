import type { Bus } from '@nightshift/bus';
import type { ContentStore, StoreItem } from '@nightshift/compaction';
import { crashPoint } from '@nightshift/config';
import { create } from '@bufbuild/protobuf';
import { NightshiftError, routes, transcript } from '@nightshift/contracts';

interface StoreScope {
  readonly team: string;
  readonly rootId: string;
  readonly taskId: string;
  readonly signal: AbortSignal;
}

/** The tool-result store as a pass uses it: records of one root task. */
export class ResultStore implements ContentStore {
  constructor(
    private readonly bus: Bus,
    private readonly scope: StoreScope,
  ) {}

  async put(item: StoreItem): Promise<transcript.StoredReference> {
    const { rootId, taskId } = this.scope;
    const { id, content, mediaType, tool, callId } = item;
    const reply = await this.bus.request(
      routes.toolresultPut,
      { rootId, taskId, id, content, mediaType, tool, callId },
      this.options(),
    );
    crashPoint('compactor.storing');
    return create(transcript.StoredReferenceSchema, { id: reply.id, sha256: reply.sha256, bytes: reply.bytes });
  }

  async get(id: string): Promise<Uint8Array> {
    const pages: Uint8Array[] = [];
    for (let offset = 0; ; ) {
      const page = await this.bus.request(routes.toolresultGet, { rootId: this.scope.rootId, id, offset }, this.options());
      pages.push(page.content);
      offset += page.content.length;
      if (!page.more) return pages.length === 1 ? page.content : Buffer.concat(pages);
      if (page.content.length === 0) throw new NightshiftError('INTERNAL', `record ${id} has an empty page at ${offset}`);
    }
  }

  private options(): { team: string; signal: AbortSignal } {
    return { team: this.scope.team, signal: this.scope.signal };
  }
}
