import { Inject, Injectable } from '@nestjs/common';
import { NightshiftError } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { sha256 } from './content-hash';
import { decode, encode, pieceBytes, piecesOf, split } from './encoding';
import type { Encoding, Piece } from './encoding';

/** One reference, without its bytes. */
export interface ResultRecord {
  rootId: string;
  id: string;
  taskId: string;
  callId: string;
  tool: string;
  mediaType: string;
  sourcePath: string;
  sourceSha256: string;
}

export interface StoredResult extends ResultRecord {
  sha256: Buffer;
  bytes: number;
}

export interface PutOutcome {
  /** The team had these bytes already. */
  deduplicated: boolean;
}

interface PutRow {
  inserted: boolean;
  added: boolean;
  known: Buffer | null;
}

// One statement, one commit. Touching the blob locks its row: the collector, which locks it too, either sees the touch or
// has deleted the row before, and then the insert makes it again.
const putStatement = {
  name: 'tool-result-put',
  text: `
with blob as (
  insert into tool_result_blobs (team_id, sha256, bytes, stored_bytes, encoding, content)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (team_id, sha256) do update set touched_at = now()
  returning (xmax = 0) as inserted
), reference as (
  insert into tool_results (team_id, root_id, id, task_id, call_id, tool, media_type, source_path, source_sha256, sha256, bytes)
  values ($1, $7, $8, $9, $10, $11, $12, $13, $14, $2, $3)
  on conflict (team_id, root_id, id) do nothing
  returning id
)
select blob.inserted, exists (select 1 from reference) as added,
  (select sha256 from tool_results where team_id = $1 and root_id = $7 and id = $8) as known
from blob`,
};

const recordColumns = `r.id, r.root_id as "rootId", r.task_id as "taskId", r.call_id as "callId", r.tool,
  r.media_type as "mediaType", r.source_path as "sourcePath", r.source_sha256 as "sourceSha256", r.sha256, r.bytes`;

const getStatement = {
  name: 'tool-result-get',
  text: `select ${recordColumns}, b.encoding, b.content
from tool_results r join tool_result_blobs b on b.team_id = r.team_id and b.sha256 = r.sha256
where r.team_id = $1 and r.root_id = $2 and r.id = $3`,
};

const findStatement = {
  name: 'tool-result-find',
  text: `select ${recordColumns} from tool_results r where r.team_id = $1 and r.root_id = $2 and r.id = $3`,
};

/** References and bytes in Postgres. Every statement names the team: another team's id finds nothing. */
@Injectable()
export class ResultStore {
  constructor(@Inject(Pool) private readonly pool: Pool) {}

  /**
   * Stores the bytes (once per team) and the reference (once per id).
   * @throws CONFLICT when the id exists with other bytes.
   */
  async put(team: string, record: ResultRecord, content: Uint8Array, hash: Buffer): Promise<PutOutcome> {
    const [first = content, ...rest] = split(content);
    const head = await encode(first);
    const row =
      rest.length === 0
        ? await putRow(this.pool, team, record, content.length, hash, head)
        : await transaction(this.pool, (client) => putPieces(client, team, record, content.length, hash, head, rest));
    // `known` is of the statement's snapshot: a reference that another put added meanwhile has to be read again.
    const known = row.added ? hash : (row.known ?? (await this.find(team, record.rootId, record.id))?.sha256);
    if (known && !known.equals(hash)) {
      throw new NightshiftError('CONFLICT', `result ${record.id} exists with other bytes`);
    }
    return { deduplicated: !row.inserted };
  }

  /** The record with its bytes [offset, offset + limit); undefined when this team's root has no such id. */
  async get(
    team: string,
    rootId: string,
    id: string,
    range: { offset: number; limit: number },
  ): Promise<{ record: StoredResult; content: Uint8Array } | undefined> {
    const found = await this.pool.query<StoredResult & { encoding: Encoding; content: Buffer }>(getStatement, [team, rootId, id]);
    const row = found.rows[0];
    if (!row) return undefined;
    const { encoding, content, ...record } = row;
    const start = Math.min(range.offset, record.bytes);
    const end = Math.min(record.bytes, start + range.limit);
    const bytes = await this.range(team, record, { encoding, content }, start, end);
    // A whole read proves the bytes; a range is as good as the pieces it came from.
    if (start === 0 && end === record.bytes && !sha256(bytes).equals(record.sha256)) {
      throw new NightshiftError('INTERNAL', `stored bytes of result ${id} do not match their hash`, {
        details: { mismatch: true },
      });
    }
    return { record, content: bytes };
  }

  async find(team: string, rootId: string, id: string): Promise<StoredResult | undefined> {
    const found = await this.pool.query<StoredResult>(findStatement, [team, rootId, id]);
    return found.rows[0];
  }

  /** Those of the ids that exist, with the time of their first put in milliseconds. */
  async stat(team: string, rootId: string, ids: readonly string[]): Promise<(StoredResult & { atMs: number })[]> {
    const found = await this.pool.query<StoredResult & { createdAt: Date }>(
      `select ${recordColumns}, r.created_at as "createdAt" from tool_results r
       where r.team_id = $1 and r.root_id = $2 and r.id = any($3)`,
      [team, rootId, ids],
    );
    return found.rows.map(({ createdAt, ...record }) => ({ ...record, atMs: createdAt.getTime() }));
  }

  private async range(team: string, record: StoredResult, head: Piece, start: number, end: number): Promise<Uint8Array> {
    if (start >= end) return new Uint8Array();
    const { first, last } = piecesOf(start, end);
    if (last === 0) return decode(head).subarray(start, end);
    const chunks = await this.pool.query<Piece & { position: number }>(
      `select position, encoding, content from tool_result_chunks
       where team_id = $1 and sha256 = $2 and position between $3 and $4 order by position`,
      [team, record.sha256, Math.max(1, first), last],
    );
    const whole = new Uint8Array(end - start);
    let at = 0;
    const pieces: (Piece & { position: number })[] = first === 0 ? [{ ...head, position: 0 }, ...chunks.rows] : chunks.rows;
    for (const piece of pieces) {
      const raw = decode(piece);
      const pieceStart = piece.position === first ? start - first * pieceBytes : 0;
      const part = raw.subarray(pieceStart, Math.min(raw.length, pieceStart + whole.length - at));
      whole.set(part, at);
      at += part.length;
    }
    if (at !== whole.length) throw new NightshiftError('INTERNAL', `result ${record.id} lacks a piece of its bytes`);
    return whole;
  }
}

async function putRow(
  on: Pool | PoolClient,
  team: string,
  record: ResultRecord,
  bytes: number,
  hash: Buffer,
  head: Piece,
  storedBytes = head.content.length,
): Promise<PutRow> {
  const { rootId, id, taskId, callId, tool, mediaType, sourcePath, sourceSha256 } = record;
  const values = [team, hash, bytes, storedBytes, head.encoding, asBuffer(head.content)];
  const done = await on.query<PutRow>({
    ...putStatement,
    values: [...values, rootId, id, taskId, callId, tool, mediaType, sourcePath, sourceSha256],
  });
  const row = done.rows[0];
  if (!row) throw new NightshiftError('INTERNAL', 'the store statement returned no row');
  return row;
}

/** A large result: the pieces are compressed and written one after the other, never all in memory at once. */
async function putPieces(
  client: PoolClient,
  team: string,
  record: ResultRecord,
  bytes: number,
  hash: Buffer,
  head: Piece,
  rest: readonly Uint8Array[],
): Promise<PutRow> {
  const row = await putRow(client, team, record, bytes, hash, head);
  if (!row.inserted) return row;
  let storedBytes = head.content.length;
  for (const [index, raw] of rest.entries()) {
    const piece = await encode(raw);
    storedBytes += piece.content.length;
    await client.query({
      name: 'tool-result-chunk',
      text: 'insert into tool_result_chunks (team_id, sha256, position, encoding, content) values ($1, $2, $3, $4, $5)',
      values: [team, hash, index + 1, piece.encoding, asBuffer(piece.content)],
    });
  }
  await client.query('update tool_result_blobs set stored_bytes = $3 where team_id = $1 and sha256 = $2', [
    team,
    hash,
    storedBytes,
  ]);
  return row;
}

/** pg sends a Buffer as bytea, and a plain Uint8Array too, but only through a copy. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
