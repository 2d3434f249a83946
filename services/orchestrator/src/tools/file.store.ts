import { Injectable } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import { cleanText, storableInt } from '../tasks/storable';
import type { tool } from '@nightshift/contracts';

export interface EditedPath {
  readonly path: string;
  readonly editedAt: number;
}

/** Files a task has seen (the edit gate) and edited (the source of the re-injected block). */
@Injectable()
export class FileStore {
  constructor(private readonly pool: Pool) {}

  async seen(
    team: string,
    task: string,
  ): Promise<readonly Pick<tool.SeenFile, 'path' | 'sha256' | 'readGeneration' | 'readInWhole'>[]> {
    const { rows } = await this.pool.query<{ path: string; sha256: string; read_generation: number; read_in_whole: boolean }>({
      name: 'seen_files',
      text: 'SELECT path, sha256, read_generation, read_in_whole FROM task_files WHERE team_id = $1 AND task_id = $2',
      values: [team, task],
    });
    return rows.map((row) => ({
      path: row.path,
      sha256: row.sha256,
      readGeneration: row.read_generation,
      readInWhole: row.read_in_whole,
    }));
  }

  /** What one call read and changed; a path that is in `changes` counts as edited. */
  async note(client: PoolClient, team: string, task: string, finished: Pick<tool.Finished, 'seen' | 'changes'>): Promise<void> {
    const edited = new Set(finished.changes.map(({ path }) => path));
    const seen = new Map(finished.seen.map((file) => [file.path, file]));
    const paths = [...new Set([...seen.keys(), ...edited])];
    if (paths.length === 0) return;
    const hashes = new Map(finished.changes.map((change) => [change.path, change.afterSha256]));
    await client.query({
      name: 'note_files',
      text: `INSERT INTO task_files (team_id, task_id, path, sha256, read_generation, read_in_whole, edited_at)
        SELECT $1, $2, f.path, f.sha256, f.read_generation, f.read_in_whole, CASE WHEN f.edited THEN now() END
        FROM unnest($3::text[], $4::text[], $5::int[], $6::boolean[], $7::boolean[]) AS f(path, sha256, read_generation, read_in_whole, edited)
        ON CONFLICT (team_id, task_id, path) DO UPDATE SET sha256 = excluded.sha256,
          read_generation = excluded.read_generation, read_in_whole = excluded.read_in_whole,
          edited_at = COALESCE(excluded.edited_at, task_files.edited_at)`,
      values: [
        team,
        task,
        paths.map(cleanText),
        paths.map((path) => cleanText(seen.get(path)?.sha256 ?? hashes.get(path) ?? '')),
        paths.map((path) => storableInt(seen.get(path)?.readGeneration ?? 0)),
        paths.map((path) => seen.get(path)?.readInWhole ?? false),
        paths.map((path) => edited.has(path)),
      ],
    });
  }

  /** The most recently edited files, newest first. */
  async edited(team: string, task: string, limit: number): Promise<readonly EditedPath[]> {
    const { rows } = await this.pool.query<{ path: string; edited_at: Date }>({
      name: 'edited_files',
      text: `SELECT path, edited_at FROM task_files WHERE team_id = $1 AND task_id = $2 AND edited_at IS NOT NULL
        ORDER BY edited_at DESC, path LIMIT $3`,
      values: [team, task, limit],
    });
    return rows.map((row) => ({ path: row.path, editedAt: row.edited_at.getTime() }));
  }
}
