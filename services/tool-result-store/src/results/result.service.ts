import { Inject, Injectable } from '@nestjs/common';
import { NightshiftError, maxBodyBytes } from '@nightshift/contracts';
import { derivedId, sha256 } from './content-hash';
import { ResultStore } from './result.store';
import type { ResultRecord, StoredResult } from './result.store';

export const RESULT_MAX_BYTES = Symbol('RESULT_MAX_BYTES');

export interface PutResult {
  id: string;
  sha256: string;
  bytes: number;
  deduplicated: boolean;
}

export interface ResultBytes {
  record: StoredResult;
  content: Uint8Array;
  /** Bytes follow after these. */
  more: boolean;
}

const idPattern = /^[\w.:-]{1,128}$/;

/** Puts and gets, with the limits. */
@Injectable()
export class ResultService {
  constructor(
    @Inject(ResultStore) private readonly store: ResultStore,
    @Inject(RESULT_MAX_BYTES) private readonly maxBytes: number,
  ) {}

  /**
   * @throws INVALID_ARGUMENT for a missing root or an id of other characters, PAYLOAD_TOO_LARGE naming the limit, CONFLICT
   *   when the id exists with other bytes.
   */
  async put(team: string, record: ResultRecord, content: Uint8Array): Promise<PutResult> {
    if (!record.rootId) throw new NightshiftError('INVALID_ARGUMENT', 'a result needs the root task it belongs to');
    if (record.id && !idPattern.test(record.id)) {
      throw new NightshiftError('INVALID_ARGUMENT', `result id ${JSON.stringify(record.id)}: expected ${idPattern.source}`);
    }
    if (content.length > this.maxBytes) {
      throw new NightshiftError('PAYLOAD_TOO_LARGE', `a result of ${content.length} bytes: at most ${this.maxBytes} are kept`, {
        details: { bytes: content.length, limit: this.maxBytes },
      });
    }
    const hash = sha256(content);
    const id = record.id || derivedId(record.rootId, hash);
    const { deduplicated } = await this.store.put(team, { ...record, id }, content, hash);
    return { id, sha256: hash.toString('hex'), bytes: content.length, deduplicated };
  }

  /**
   * The bytes from `offset` on, at most `limit` (0 = to the end) and at most what one reply carries.
   * @throws NOT_FOUND for an id this team's root does not have.
   */
  async get(team: string, rootId: string, id: string, offset: number, limit: number): Promise<ResultBytes> {
    const bound = limit === 0 ? maxBodyBytes : Math.min(limit, maxBodyBytes);
    const found = await this.store.get(team, rootId, id, { offset, limit: bound });
    if (!found) throw unknownResult(id);
    return { ...found, more: offset + found.content.length < found.record.bytes };
  }

  /** The whole content, however large. */
  async whole(team: string, rootId: string, id: string): Promise<ResultBytes> {
    const found = await this.store.get(team, rootId, id, { offset: 0, limit: Number.MAX_SAFE_INTEGER });
    if (!found) throw unknownResult(id);
    return { ...found, more: false };
  }
}

function unknownResult(id: string): NightshiftError {
  return new NightshiftError('NOT_FOUND', `no result ${id} in this task`);
}
