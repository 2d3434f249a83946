import { NightshiftError } from '@nightshift/contracts';
import type { transcript } from '@nightshift/contracts';
import type { StoreItem } from '../ladder/ports';
import { MemoryStore } from './memory-store';

/** How a store of a case misbehaves. */
export type Fault = 'none' | 'refusing' | 'forgetting' | 'corrupting';

/** A store that takes everything and keeps it, unless the case says otherwise. */
export class FaultyStore extends MemoryStore {
  fault: Fault = 'none';

  override put(item: StoreItem): Promise<transcript.StoredReference> {
    if (this.fault === 'refusing') return Promise.reject(new NightshiftError('UNAVAILABLE', 'the store is away'));
    return super.put(item);
  }

  override async get(id: string): Promise<Uint8Array> {
    if (this.fault === 'forgetting') throw new NightshiftError('NOT_FOUND', `no record ${id}`);
    const content = await super.get(id);
    return this.fault === 'corrupting' ? content.subarray(1) : content;
  }
}
