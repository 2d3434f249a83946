import { Injectable } from '@nestjs/common';
import { Pool } from '@nightshift/db';
import type { PoolClient } from '@nightshift/db';
import type { tool } from '@nightshift/contracts';
import { fileArrays, filesConflict, unnestFiles } from './file-sql';

export interface EditedPath {
  readonly path: string;
  readonly editedAt: number;
}

/** Files a task has seen (the edit gate) and edited (the source of the re-injected block). */
@Injectable()
export class FileStore {
  constructor(private readonly pool: Pool) {}

  /** What one call read and changed. */
  async note(client: PoolClient, team: string, task: string, finished: Pick<tool.Finished, 'seen' | 'changes'>): Promise<void> {
    if (finished.seen.length + finished.changes.length === 0) return;
    await client.query({
      name: 'note_files',
      text: `INSERT INTO task_files (team_id, task_id, path, sha256, read_generation, read_in_whole, edited_at)
        SELECT $1, $2, f.path, f.sha256, f.read_generation, f.read_in_whole, CASE WHEN f.edited THEN now() END
        FROM ${unnestFiles(3)} ${filesConflict}`,
      values: [team, task, ...fileArrays(finished)],
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
