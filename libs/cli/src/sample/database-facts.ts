import { inflateRawSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { compaction, task, transcript } from '@nightshift/contracts';
import type { Pool } from '@nightshift/db';
import { tracesOf } from './collect';
import { secondsBetween, type Report } from './report';
import { askedId, restoredBytes, sha256 } from './restored';

export interface DatabaseFacts extends Omit<Report, 'ok' | 'services'> {
  traces: number;
  /** Attempts that a provider refused with a rate limit. */
  rateLimited: number;
}

/** What Postgres knows about a task, read from its tables and decoded here, without any of the services. */
export async function databaseFacts(pool: Pool, id: string): Promise<DatabaseFacts | undefined> {
  const found = await pool.query<{
    team_id: string;
    state: number;
    tool_calls: number;
    threshold_hits: number;
    created_at: Date;
    ended_at: Date | null;
    updated_at: Date;
    criteria: Array<{ done: boolean }>;
  }>(
    `select t.team_id, t.state, t.tool_calls, t.threshold_hits, t.created_at, t.ended_at, t.updated_at, d.criteria
     from tasks t join task_details d on d.team_id = t.team_id and d.task_id = t.id where t.id = $1`,
    [id],
  );
  const row = found.rows[0];
  if (!row) return undefined;
  const closed = row.criteria.filter((criterion) => criterion.done).length;
  const calls = await callsOf(pool, id);
  return {
    seconds: secondsBetween(row.created_at.getTime(), (row.ended_at ?? row.updated_at).getTime()),
    task: {
      id,
      state: (task.TaskState[row.state] ?? '').toLowerCase(),
      toolCalls: row.tool_calls,
      criteria: { open: row.criteria.length - closed, closed },
    },
    thresholdHits: row.threshold_hits,
    ...(await passesOf(pool, id)),
    fallbacks: await fallbacksOf(pool, id),
    restores: await restoresOf(pool, row.team_id, id, calls),
    traces: tracesOf(calls),
    rateLimited: await rateLimitedOf(pool, id),
  };
}

interface CallRow {
  callId: string;
  tool: string;
  state: string;
  argumentsJson: string;
}

async function callsOf(pool: Pool, id: string): Promise<CallRow[]> {
  const found = await pool.query<CallRow>(
    `select call_id as "callId", tool, state, arguments_json as "argumentsJson" from tool_calls
     where task_id = $1 order by entry_seq, position`,
    [id],
  );
  return found.rows;
}

async function passesOf(pool: Pool, id: string): Promise<Pick<Report, 'compactions' | 'reinjected'>> {
  const found = await pool.query<{ generation: number; report: Buffer; checkpoint: Buffer }>(
    `select generation, report, checkpoint from task_checkpoints
     where task_id = $1 and generation > 0 and undoes = 0 and report is not null and checkpoint is not null order by generation`,
    [id],
  );
  const counts = new Map<string, number>();
  const compactions = found.rows.map(({ generation, report, checkpoint }) => {
    const finished = fromBinary(compaction.FinishedSchema, report);
    for (const { kind } of fromBinary(compaction.CheckpointSchema, checkpoint).reinjected) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return {
      generation,
      model: `${finished.provider}/${finished.model}`,
      window: finished.window,
      threshold: finished.threshold,
      before: finished.before,
      after: finished.after,
      tiers: finished.tiers.map(({ tier, outcome, before, after, reason }) => ({ tier, outcome, before, after, reason })),
    };
  });
  const reinjected = [...counts].map(([kind, count]) => ({ kind, count })).sort((a, b) => (a.kind < b.kind ? -1 : 1));
  return { compactions, reinjected };
}

async function fallbacksOf(pool: Pool, id: string): Promise<Report['fallbacks']> {
  const found = await pool.query<{ data_json: string }>(
    `select data_json from task_events where task_id = $1 and kind = 'fallback' order by seq`,
    [id],
  );
  return found.rows.map(({ data_json }) => {
    const { from, to, reason, window, threshold } = JSON.parse(data_json) as Report['fallbacks'][number];
    return { from, to, reason, window, threshold };
  });
}

async function rateLimitedOf(pool: Pool, id: string): Promise<number> {
  const found = await pool.query<{ count: number }>(
    `select count(*)::int as count from llm_attempts where task_id = $1 and http_status = 429`,
    [id],
  );
  return found.rows[0]?.count ?? 0;
}

async function restoresOf(pool: Pool, team: string, id: string, calls: readonly CallRow[]): Promise<Report['restores']> {
  const asked = calls.filter((call) => call.tool === 'restore_tool_result' && call.state === 'finished');
  if (asked.length === 0) return [];
  const texts = await resultTexts(pool, id);
  const restores: Report['restores'] = [];
  for (const call of asked) {
    const wanted = askedId(call.argumentsJson);
    const given = wanted === undefined ? undefined : restoredBytes(texts.get(call.callId) ?? '', wanted);
    if (wanted === undefined || given === undefined) continue;
    const stored = await storedBytes(pool, team, id, wanted);
    const matches = stored !== undefined && sha256(stored.bytes) === stored.sha256 && sha256(given) === stored.sha256;
    restores.push({ id: wanted, bytes: stored?.bytes.length ?? 0, sha256Matches: matches });
  }
  return restores;
}

/** Call id → the text of its result, from the transcript itself. */
async function resultTexts(pool: Pool, id: string): Promise<Map<string, string>> {
  const found = await pool.query<{ body: Buffer }>(`select body from task_entries where task_id = $1 order by seq`, [id]);
  const texts = new Map<string, string>();
  for (const row of found.rows) {
    const { body } = fromBinary(transcript.EntrySchema, row.body);
    if (body.case !== 'toolResult') continue;
    const parts = body.value.parts.flatMap(({ kind }) => (kind.case === 'text' ? [kind.value] : []));
    texts.set(body.value.callId, parts.join(''));
  }
  return texts;
}

/** The bytes as the store keeps them: a first piece, further chunks, each raw-deflated or as it is. */
async function storedBytes(
  pool: Pool,
  team: string,
  root: string,
  id: string,
): Promise<{ bytes: Buffer; sha256: string } | undefined> {
  const found = await pool.query<{ sha256: Buffer; encoding: number; content: Buffer }>(
    `select b.sha256, b.encoding, b.content from tool_results r
     join tool_result_blobs b on b.team_id = r.team_id and b.sha256 = r.sha256
     where r.team_id = $1 and r.root_id = $2 and r.id = $3`,
    [team, root, id],
  );
  const first = found.rows[0];
  if (!first) return undefined;
  const chunks = await pool.query<{ encoding: number; content: Buffer }>(
    `select encoding, content from tool_result_chunks where team_id = $1 and sha256 = $2 order by position`,
    [team, first.sha256],
  );
  const bytes = Buffer.concat([first, ...chunks.rows].map(plain));
  return { bytes, sha256: first.sha256.toString('hex') };
}

function plain({ encoding, content }: { encoding: number; content: Buffer }): Buffer {
  return encoding === 1 ? inflateRawSync(content) : content;
}
