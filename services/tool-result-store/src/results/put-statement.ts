import type { QueryConfig } from 'pg';
import type { Piece } from './encoding';
import type { ResultRecord } from './result.store';

/** One row of a put: the first piece of the bytes, and the reference. */
export interface PutRow {
  team: string;
  record: ResultRecord;
  hash: Buffer;
  bytes: number;
  head: Piece;
}

/** `inserted`: the blob is new. `added`: the reference is. */
export interface PutDone {
  inserted: boolean;
  added: boolean;
}

interface ReturnedRow {
  kind: 'blob' | 'reference';
  team: string;
  key: string;
  inserted: boolean;
}

const columns = 14;
const texts = new Map<number, string>();

// One statement, one commit. Touching the blob locks its row: the collector, which locks it too, either sees the touch or
// has deleted the row before, and then the insert makes it again.
function textFor(rows: number): string {
  const known = texts.get(rows);
  if (known) return known;
  const rowsOf = (numbers: readonly number[]): string =>
    Array.from({ length: rows }, (_, row) => `(${numbers.map((number) => `$${row * columns + number}`).join(',')})`).join(',');
  const text = `
with blob as (
  insert into tool_result_blobs (team_id, sha256, bytes, stored_bytes, encoding, content)
  values ${rowsOf([1, 2, 3, 4, 5, 6])}
  on conflict (team_id, sha256) do update set touched_at = now()
  returning team_id, sha256, (xmax = 0) as inserted
), reference as (
  insert into tool_results (team_id, root_id, id, task_id, call_id, tool, media_type, source_path, source_sha256, sha256, bytes)
  values ${rowsOf([1, 7, 8, 9, 10, 11, 12, 13, 14, 2, 3])}
  on conflict (team_id, root_id, id) do nothing
  returning team_id, root_id, id
)
select 'blob' as kind, team_id as team, encode(sha256, 'hex') as key, inserted from blob
union all
select 'reference', team_id, root_id || ' ' || id, true from reference`;
  texts.set(rows, text);
  return text;
}

const blobKey = (row: PutRow): string => `${row.team} ${row.hash.toString('hex')}`;
const referenceKey = (row: PutRow): string => `${row.team} ${row.record.rootId} ${row.record.id}`;

/** The same blob twice in one statement is refused by Postgres, so rows with one key must not share a batch. */
export const putKey = blobKey;

/** Always in the same order, so that two batches with the same blobs cannot wait for each other. */
export function inLockOrder(rows: readonly PutRow[]): PutRow[] {
  return [...rows].sort((a, b) => (blobKey(a) < blobKey(b) ? -1 : 1));
}

/** The statement for some rows with different blobs. */
export function putStatement(rows: readonly PutRow[]): QueryConfig {
  const values = inLockOrder(rows).flatMap(({ team, record, hash, bytes, head }) => [
    team,
    hash,
    bytes,
    head.content.length,
    head.encoding,
    asBuffer(head.content),
    record.rootId,
    record.id,
    record.taskId,
    record.callId,
    record.tool,
    record.mediaType,
    record.sourcePath,
    record.sourceSha256,
  ]);
  return { name: `tool-result-put-${rows.length}`, text: textFor(rows.length), values };
}

/** What became of each row, in the given order. */
export function putOutcomes(rows: readonly PutRow[], returned: readonly ReturnedRow[]): PutDone[] {
  const inserted = new Set(returned.filter((row) => row.kind === 'blob' && row.inserted).map((row) => `${row.team} ${row.key}`));
  const added = new Set(returned.filter((row) => row.kind === 'reference').map((row) => `${row.team} ${row.key}`));
  return rows.map((row) => ({ inserted: inserted.has(blobKey(row)), added: added.has(referenceKey(row)) }));
}

/** pg sends a Buffer as bytea, and a plain Uint8Array too, but only through a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
