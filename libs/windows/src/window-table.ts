import { create, fromBinary } from '@bufbuild/protobuf';
import { compaction } from '@nightshift/contracts';
import { parseWindowKey, seededKey } from './window-keys';

/** What is assumed of a model nobody knows, in tokens; always together with the `unknown` flag. */
export const unknownWindow = 32_000;

/** One change of the bucket; no value = the key is gone. */
export interface BucketChange {
  key: string;
  value?: Uint8Array;
}

/** The local copy of the bucket: pure, fed by a watch. */
export class WindowTable {
  private readonly windows = new Map<string, compaction.ModelWindow>();
  /** The same by plain names: encoding a key for every call would cost more than the rest of the look-up. */
  private readonly byName = new Map<string, compaction.ModelWindow>();
  private marked = false;

  get seeded(): boolean {
    return this.marked;
  }

  get size(): number {
    return this.windows.size;
  }

  /** Applies one change; a value that does not decode leaves the last good one in place. */
  apply(change: BucketChange): void {
    if (change.key === seededKey) {
      this.marked ||= change.value !== undefined;
      return;
    }
    const name = parseWindowKey(change.key);
    if (!name) return;
    const plain = plainName(name.provider, name.endpoint, name.model, name.team);
    if (change.value === undefined || change.value.length === 0) {
      this.windows.delete(change.key);
      this.byName.delete(plain);
      return;
    }
    const window = fromBinary(compaction.ModelWindowSchema, change.value);
    this.windows.set(change.key, window);
    this.byName.set(plain, window);
  }

  /** The team's own window, else the general one, else 32 000 with `unknown` set. */
  get(provider: string, endpoint: string, model: string, team?: string): compaction.ModelWindow {
    const own = team === undefined ? undefined : this.byName.get(plainName(provider, endpoint, model, team));
    return own ?? this.byName.get(plainName(provider, endpoint, model)) ?? unknown(provider, endpoint, model);
  }

  /** What one key of the bucket holds. */
  at(key: string): compaction.ModelWindow | undefined {
    return this.windows.get(key);
  }

  all(): compaction.ModelWindow[] {
    return [...this.windows.values()];
  }
}

function plainName(provider: string, endpoint: string, model: string, team = ''): string {
  return `${team}\0${provider}\0${endpoint}\0${model}`;
}

function unknown(provider: string, endpoint: string, model: string): compaction.ModelWindow {
  return create(compaction.ModelWindowSchema, {
    provider,
    endpoint,
    model,
    window: unknownWindow,
    source: 'unknown',
    unknown: true,
  });
}
