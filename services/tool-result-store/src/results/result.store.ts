import { Inject, Injectable } from '@nestjs/common';
import { NightshiftError } from '@nightshift/contracts';
import { Pool, transaction } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { Batcher } from './batcher';
import { sha256 } from './content-hash';
import { decode, encode, pieceBytes, piecesOf, split } from './encoding';
import type { Encoding, Piece } from './encoding';
import { getStatement, recordColumns } from './get-statement';
import type { GetKey } from './get-statement';
import { asBuffer, putKey, putOutcomes, putStatement } from './put-statement';
import type { PutDone, PutRow } from './put-statement';

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

type FoundRow = StoredResult & { n: number; encoding: Encoding; content: Buffer };

/** Measured at 32 callers: half of the pool in batches gives more than the whole pool one by one. */
const batchSize = 16;
const batchesAtOnce = 3;

/** References and bytes in Postgres. Every statement names the team: another team's id finds nothing. */
@Injectable()
export class ResultStore {
  private readonly puts: Batcher<PutRow, PutDone>;
  private readonly gets: Batcher<GetKey, FoundRow | undefined>;

  constructor(@Inject(Pool) private readonly pool: Pool) {
    const limits = { size: batchSize, width: batchesAtOnce };
    this.puts = new Batcher({ ...limits, keyOf: putKey, run: (rows) => putRows(this.pool, rows) });
    this.gets = new Batcher({
      ...limits,
      keyOf: ({ team, rootId, id }) => `${team} ${rootId} ${id}`,
      run: (keys) => this.find(keys),
    });
  }

  /**
   * Stores the bytes (once per team) and the reference (once per id).
   * @throws CONFLICT when the id exists with other bytes.
   */
  async put(team: string, record: ResultRecord, content: Uint8Array, hash: Buffer): Promise<PutOutcome> {
    const [first = content, ...rest] = split(content);
    const row: PutRow = { team, record, hash, bytes: content.length, head: await encode(first) };
    const done = await (rest.length === 0
      ? this.puts.add(row)
      : transaction(this.pool, (client) => putPieces(client, row, rest)));
    if (!done.added) {
      const known = await this.pool.query<{ sha256: Buffer }>(
        'select sha256 from tool_results where team_id = $1 and root_id = $2 and id = $3',
        [team, record.rootId, record.id],
      );
      if (known.rows[0] && !known.rows[0].sha256.equals(hash)) {
        throw new NightshiftError('CONFLICT', `result ${record.id} exists with other bytes`);
      }
    }
    return { deduplicated: !done.inserted };
  }

  /** The record with its bytes [offset, offset + limit); undefined when this team's root has no such id. */
  async get(
    team: string,
    rootId: string,
    id: string,
    range: { offset: number; limit: number },
  ): Promise<{ record: StoredResult; content: Uint8Array } | undefined> {
    const row = await this.gets.add({ team, rootId, id });
    if (!row) return undefined;
    const { encoding, content, n: _n, ...record } = row;
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

  /** Those of the ids that exist, with the time of their first put in milliseconds. */
  async stat(team: string, rootId: string, ids: readonly string[]): Promise<(StoredResult & { atMs: number })[]> {
    const found = await this.pool.query<StoredResult & { createdAt: Date }>(
      `select ${recordColumns}, r.created_at as "createdAt" from tool_results r
       where r.team_id = $1 and r.root_id = $2 and r.id = any($3)`,
      [team, rootId, ids],
    );
    return found.rows.map(({ createdAt, ...record }) => ({ ...record, atMs: createdAt.getTime() }));
  }

  private async find(keys: readonly GetKey[]): Promise<(FoundRow | undefined)[]> {
    const found = await this.pool.query<FoundRow>(getStatement(keys));
    const outputs: (FoundRow | undefined)[] = keys.map(() => undefined);
    for (const row of found.rows) outputs[row.n] = row;
    return outputs;
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

async function putRows(on: Pool | PoolClient, rows: readonly PutRow[]): Promise<PutDone[]> {
  return putOutcomes(rows, (await on.query(putStatement(rows))).rows);
}

/** A large result: the pieces are compressed and written one after the other, never all in memory at once. */
async function putPieces(client: PoolClient, row: PutRow, rest: readonly Uint8Array[]): Promise<PutDone> {
  const [done] = await putRows(client, [row]);
  if (!done) throw new NightshiftError('INTERNAL', 'the store statement returned no row');
  if (!done.inserted) return done;
  let storedBytes = row.head.content.length;
  for (const [index, raw] of rest.entries()) {
    const piece = await encode(raw);
    storedBytes += piece.content.length;
    await client.query({
      name: 'tool-result-chunk',
      text: 'insert into tool_result_chunks (team_id, sha256, position, encoding, content) values ($1, $2, $3, $4, $5)',
      values: [row.team, row.hash, index + 1, piece.encoding, asBuffer(piece.content)],
    });
  }
  await client.query('update tool_result_blobs set stored_bytes = $3 where team_id = $1 and sha256 = $2', [
    row.team,
    row.hash,
    storedBytes,
  ]);
  return done;
}
