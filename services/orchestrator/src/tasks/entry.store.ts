import { fromBinary } from '@bufbuild/protobuf';
import { Injectable } from '@nestjs/common';
import { compaction, transcript } from '@nightshift/contracts';
import { Pool } from '@nightshift/db';
import type { PoolClient, QueryResultRow } from '@nightshift/db';
import { storableInt } from './storable';
import type { TaskRow } from './task-row';

/** What a view is made of: the newest checkpoint, and the entries it leaves visible, ascending. */
export interface Tail {
  readonly checkpoint: compaction.Checkpoint | undefined;
  readonly entries: readonly transcript.Entry[];
}

interface EntryRecord extends QueryResultRow {
  seq: number;
  bytes: number;
  body: Buffer;
}

interface Cached {
  readonly generation: number;
  readonly checkpoint: compaction.Checkpoint | undefined;
  readonly entries: transcript.Entry[];
  through: number;
  bytes: number;
}

/** Encoded bytes of cached entries per process; decoded they take about three times that. */
const cacheBytes = 48 * 1024 * 1024;

/**
 * Entries and checkpoints. A step reads only what came after the checkpoint, and of that only what this process has not
 * seen: the cache is keyed by task and generation and grows by seq, so a hit costs nothing.
 */
@Injectable()
export class EntryStore {
  private readonly cache = new Map<string, Cached>();
  private held = 0;

  constructor(private readonly pool: Pool) {}

  /** Everything that the view of the current generation is rendered from. */
  async tail(row: TaskRow): Promise<Tail> {
    const key = `${row.teamId}/${row.id}`;
    const cached = this.cache.get(key);
    const known = cached && cached.generation === row.generation && cached.through <= row.lastSeq ? cached : await this.open(row);
    if (known.through < row.lastSeq) {
      const fresh = await this.range(row.teamId, row.id, known.through, row.lastSeq);
      for (const { entry, bytes } of fresh) this.grow(known, entry, bytes);
    }
    this.keep(key, known);
    return known;
  }

  /** Adds what was just recorded, so that the next step of this process need not read it back. */
  appended(row: TaskRow, entries: readonly transcript.Entry[], bytes: number): void {
    const cached = this.cache.get(`${row.teamId}/${row.id}`);
    if (!cached || cached.generation !== row.generation) return;
    for (const entry of entries) if (entry.seq === cached.through + 1) this.grow(cached, entry, bytes / entries.length);
  }

  /** Drops a task that has ended, is parked or works elsewhere. */
  forget(team: string, id: string): void {
    const cached = this.cache.get(`${team}/${id}`);
    if (!cached) return;
    this.held -= cached.bytes;
    this.cache.delete(`${team}/${id}`);
  }

  /** Entries with `after` < seq <= `through`, at most `limit` of them and about `maxBytes` (the first always comes). */
  async page(
    team: string,
    id: string,
    page: { after: number; through: number; limit: number; maxBytes: number },
  ): Promise<{ entries: transcript.Entry[]; more: boolean }> {
    const { rows } = await this.pool.query<EntryRecord>({
      name: 'entries_page',
      text: `SELECT seq, bytes, body FROM (
          SELECT seq, bytes, body, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM task_entries
          WHERE team_id = $1 AND task_id = $2 AND seq > $3 AND seq <= $4 ORDER BY seq LIMIT $5
        ) page WHERE before < $6 ORDER BY seq`,
      values: [team, id, storableInt(page.after), storableInt(page.through), page.limit + 1, page.maxBytes],
    });
    const shown = rows.slice(0, page.limit);
    const last = shown[shown.length - 1]?.seq ?? page.through;
    return {
      entries: shown.map(decode),
      more: rows.length > shown.length || (shown.length > 0 && (await this.beyond(team, id, last, page.through))),
    };
  }

  /** The checkpoint of a generation; undefined for generation 0 and for one that undid the first pass. */
  async checkpoint(
    team: string,
    id: string,
    generation: number,
    db: Pool | PoolClient = this.pool,
  ): Promise<compaction.Checkpoint | undefined> {
    if (generation === 0) return undefined;
    const { rows } = await db.query<{ checkpoint: Buffer | null }>({
      name: 'checkpoint_of',
      text: 'SELECT checkpoint FROM task_checkpoints WHERE team_id = $1 AND task_id = $2 AND generation = $3',
      values: [team, id, generation],
    });
    const body = rows[0]?.checkpoint;
    return body ? fromBinary(compaction.CheckpointSchema, body) : undefined;
  }

  /** Everything a given generation shows, up to `through`. Not cached: for inspection only. */
  async tailOf(team: string, id: string, generation: number, through: number): Promise<Tail> {
    const checkpoint = await this.checkpoint(team, id, generation);
    return { checkpoint, entries: (await this.visible(team, id, checkpoint, through)).map(({ entry }) => entry) };
  }

  private async open(row: TaskRow): Promise<Cached> {
    this.forget(row.teamId, row.id);
    const checkpoint = await this.checkpoint(row.teamId, row.id, row.generation);
    const opened: Cached = { generation: row.generation, checkpoint, entries: [], through: 0, bytes: 0 };
    for (const { entry, bytes } of await this.visible(row.teamId, row.id, checkpoint, row.lastSeq)) {
      opened.entries.push(entry);
      opened.bytes += bytes;
    }
    opened.through = row.lastSeq;
    this.held += opened.bytes;
    return opened;
  }

  private async visible(
    team: string,
    id: string,
    checkpoint: compaction.Checkpoint | undefined,
    through: number,
  ): Promise<{ entry: transcript.Entry; bytes: number }[]> {
    const tail = await this.range(team, id, checkpoint?.hiddenThroughSeq ?? 0, through);
    if (!checkpoint || checkpoint.verbatimUserSeqs.length === 0) return tail;
    const { rows } = await this.pool.query<EntryRecord>({
      name: 'entries_named',
      text: 'SELECT seq, bytes, body FROM task_entries WHERE team_id = $1 AND task_id = $2 AND seq = ANY($3::int[]) AND seq <= $4 ORDER BY seq',
      values: [team, id, checkpoint.verbatimUserSeqs, checkpoint.hiddenThroughSeq],
    });
    return [...rows.map((record) => ({ entry: decode(record), bytes: record.bytes })), ...tail];
  }

  private async range(
    team: string,
    id: string,
    after: number,
    through: number,
  ): Promise<{ entry: transcript.Entry; bytes: number }[]> {
    const { rows } = await this.pool.query<EntryRecord>({
      name: 'entries_range',
      text: 'SELECT seq, bytes, body FROM task_entries WHERE team_id = $1 AND task_id = $2 AND seq > $3 AND seq <= $4 ORDER BY seq',
      values: [team, id, after, through],
    });
    return rows.map((record) => ({ entry: decode(record), bytes: record.bytes }));
  }

  private async beyond(team: string, id: string, last: number, through: number): Promise<boolean> {
    const { rows } = await this.pool.query<{ more: boolean }>({
      name: 'entries_beyond',
      text: 'SELECT EXISTS (SELECT 1 FROM task_entries WHERE team_id = $1 AND task_id = $2 AND seq > $3 AND seq <= $4) AS more',
      values: [team, id, last, through],
    });
    return rows[0]?.more ?? false;
  }

  private grow(cached: Cached, entry: transcript.Entry, bytes: number): void {
    cached.entries.push(entry);
    cached.through = entry.seq;
    cached.bytes += bytes;
    this.held += bytes;
  }

  private keep(key: string, cached: Cached): void {
    // Re-inserted last, so that iteration order is order of use.
    this.cache.delete(key);
    this.cache.set(key, cached);
    for (const [oldest, { bytes }] of this.cache) {
      if (this.held <= cacheBytes || oldest === key) return;
      this.cache.delete(oldest);
      this.held -= bytes;
    }
  }
}

function decode(record: EntryRecord): transcript.Entry {
  return fromBinary(transcript.EntrySchema, record.body);
}
