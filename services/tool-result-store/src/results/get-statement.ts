import type { QueryConfig } from 'pg';

export interface GetKey {
  team: string;
  rootId: string;
  id: string;
}

export const recordColumns = `r.id, r.root_id as "rootId", r.task_id as "taskId", r.call_id as "callId", r.tool,
  r.media_type as "mediaType", r.source_path as "sourcePath", r.source_sha256 as "sourceSha256", r.sha256, r.bytes`;

const texts = new Map<number, string>();

/** The references with the first piece of their bytes, for some keys at once. `n` is the position of the key, from 0. */
export function getStatement(keys: readonly GetKey[]): QueryConfig {
  let text = texts.get(keys.length);
  if (!text) {
    const wanted = keys
      .map((_, row) => `(${row}, $${row * 3 + 1}::text, $${row * 3 + 2}::text, $${row * 3 + 3}::text)`)
      .join(',');
    text = `select k.n, ${recordColumns}, b.encoding, b.content
from (values ${wanted}) as k (n, team_id, root_id, id)
join tool_results r on r.team_id = k.team_id and r.root_id = k.root_id and r.id = k.id
join tool_result_blobs b on b.team_id = r.team_id and b.sha256 = r.sha256`;
    texts.set(keys.length, text);
  }
  return { name: `tool-result-get-${keys.length}`, text, values: keys.flatMap(({ team, rootId, id }) => [team, rootId, id]) };
}
