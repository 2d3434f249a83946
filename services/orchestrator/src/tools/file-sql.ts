import type { tool } from '@nightshift/contracts';
import { cleanText, storableInt } from '../tasks/storable';

/** Rows of `task_files` from five arrays, the first of which is parameter `first`. */
export function unnestFiles(first: number): string {
  const types = ['text', 'text', 'int', 'boolean', 'boolean'];
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`);
  return `unnest(${arrays.join(', ')}) AS f(path, sha256, read_generation, read_in_whole, edited)`;
}

/** The files of task $2 of team $1 that its model has seen, as one JSON value; null for none. */
export const seenFiles = `(SELECT json_agg(json_build_object('path', path, 'sha256', sha256, 'readGeneration', read_generation,
  'readInWhole', read_in_whole)) FROM task_files WHERE team_id = $1 AND task_id = $2)`;

/** A file that was seen before takes the newest facts; when it was edited is never forgotten. */
export const filesConflict = `ON CONFLICT (team_id, task_id, path) DO UPDATE SET sha256 = excluded.sha256,
  read_generation = excluded.read_generation, read_in_whole = excluded.read_in_whole,
  edited_at = COALESCE(excluded.edited_at, task_files.edited_at)`;

/** The five arrays for what one call read and changed; a path that is in `changes` counts as edited. */
export function fileArrays({ seen, changes }: Pick<tool.Finished, 'seen' | 'changes'>): readonly (readonly unknown[])[] {
  const edited = new Set(changes.map(({ path }) => path));
  const read = new Map(seen.map((file) => [file.path, file]));
  const hashes = new Map(changes.map((change) => [change.path, change.afterSha256]));
  const paths = [...new Set([...read.keys(), ...edited])];
  return [
    paths.map(cleanText),
    paths.map((path) => cleanText(read.get(path)?.sha256 ?? hashes.get(path) ?? '')),
    paths.map((path) => storableInt(read.get(path)?.readGeneration ?? 0)),
    paths.map((path) => read.get(path)?.readInWhole ?? false),
    paths.map((path) => edited.has(path)),
  ];
}
