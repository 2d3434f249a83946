import { NightshiftError, transcript } from '@nightshift/contracts';
import { create } from '@bufbuild/protobuf';
import type { ContentStore, StoreItem } from '../ladder/ports';
import { sha256 } from '../view/hash';

/** A store in memory that keeps the contract of the real one: same id, same bytes. */
export class MemoryStore implements ContentStore {
  readonly records = new Map<string, Uint8Array>();
  puts = 0;

  put(item: StoreItem): Promise<transcript.StoredReference> {
    this.puts++;
    const known = this.records.get(item.id);
    if (known && Buffer.compare(known, item.content) !== 0) {
      return Promise.reject(new NightshiftError('CONFLICT', `${item.id} is stored with other content`));
    }
    this.records.set(item.id, item.content);
    const { id, content } = item;
    return Promise.resolve(create(transcript.StoredReferenceSchema, { id, sha256: sha256(content), bytes: content.length }));
  }

  get(id: string): Promise<Uint8Array> {
    const record = this.records.get(id);
    return record ? Promise.resolve(record) : Promise.reject(new NightshiftError('NOT_FOUND', `no record ${id}`));
  }
}
