import { filesConflict, unnestFiles } from '../tools/file-sql';
import { taskColumns } from './task-sql';

/**
 * Records an outcome in one statement: the row by compare-and-set on the epoch, and everything that belongs to the outcome
 * only if that held. Parameters $1 to $32, in the order of RecordStore.
 */
const parts = `WITH t AS (
  UPDATE tasks SET
    state = $4::smallint, pending = $5::smallint, reason = $6::text, epoch = epoch + 1, publish_count = 0, step_attempts = 0,
    due_at = now() + $7::float8 * interval '1 millisecond',
    lease_owner = $8::text, lease_until = CASE WHEN $8::text IS NULL THEN NULL ELSE now() + $30::float8 * interval '1 millisecond' END,
    generation = $9::int, iterations = $10::int, tool_calls = $11::int, threshold_hits = $12::int, chain_position = $13::smallint, pass_id = $14::uuid,
    pause_requested = COALESCE($15::boolean, pause_requested), compact_requested = COALESCE($16::boolean, compact_requested),
    memory = $17::jsonb, last_seq = last_seq + $18::int, last_event_seq = last_event_seq + $19::int,
    details_version = details_version + CASE WHEN $20::jsonb IS NULL THEN 0 ELSE 1 END,
    updated_at = now(), ended_at = CASE WHEN $4::smallint IN (6, 7, 8) THEN now() END
  WHERE team_id = $1::text AND id = $2::uuid AND epoch = $3::int AND state NOT IN (6, 7, 8) AND ($21::text IS NULL OR lease_owner = $21)
  RETURNING ${taskColumns}
), entries AS (
  INSERT INTO task_entries (team_id, task_id, seq, kind, bytes, estimated_tokens, body)
  SELECT $1::text, $2::uuid, e.seq, e.kind, octet_length(e.body), e.estimate, e.body
  FROM t, unnest($22::int[], $23::text[], $24::int[], $25::bytea[]) AS e(seq, kind, estimate, body)
), calls AS (
  INSERT INTO tool_calls (team_id, task_id, call_id, provider_id, entry_seq, position, wave, tool, place, effect, state,
    arguments_json, ended_at, result)
  SELECT $1::text, $2::uuid, c.call_id, c.provider_id, $26::int, c.position, c.wave, c.tool, c.place, c.effect, c.state, c.arguments_json,
    CASE WHEN c.result IS NOT NULL THEN now() END, decode(c.result, 'base64')
  FROM t, json_to_recordset($27::json) AS c(call_id uuid, provider_id text, position smallint, wave smallint, tool text,
    place text, effect smallint, state text, arguments_json text, result text)
), closed AS (
  UPDATE tool_calls SET state = c.state, result = decode(c.result, 'base64'), ended_at = now()
  FROM t, json_to_recordset($28::json) AS c(call_id uuid, state text, result text)
  WHERE tool_calls.team_id = $1::text AND tool_calls.task_id = $2::uuid AND tool_calls.call_id = c.call_id
), events AS (
  INSERT INTO task_events (team_id, task_id, seq, kind, data_json)
  SELECT $1::text, $2::uuid, t.last_event_seq - $19::int + v.n, v.event->>'kind', v.event->>'data'
  FROM t, json_array_elements($29::json) WITH ORDINALITY AS v(event, n)
), pass AS (
  INSERT INTO task_checkpoints (team_id, task_id, pass_id, reason, measured)
  SELECT $1::text, $2::uuid, $14::uuid, $31::smallint, $32::int FROM t WHERE $31::smallint IS NOT NULL
), details AS (
  UPDATE task_details SET
    version = version + 1,
    criteria = COALESCE($20::jsonb->'criteria', criteria), plan = COALESCE($20::jsonb->'plan', plan),
    chain = COALESCE($20::jsonb->'chain', chain), workspace = COALESCE($20::jsonb->'workspace', workspace),
    rules = COALESCE($20::jsonb->>'rules', rules), question = COALESCE($20::jsonb->>'question', question),
    result = COALESCE($20::jsonb->>'result', result), focus = COALESCE($20::jsonb->>'focus', focus),
    receipt = COALESCE($20::jsonb->'receipt', receipt)
  FROM t WHERE task_details.team_id = $1::text AND task_details.task_id = $2::uuid AND $20::jsonb IS NOT NULL
)`;

/** The outcome of a tool call that was the only open one of its batch: the ledger row and the files it saw go with it. */
const closingParts = `, closing AS (
  UPDATE tool_calls SET state = $34::text, result = $35::bytea, ms = $36::int,
    runner = CASE WHEN $37::text = '' THEN runner ELSE $37::text END, changes = $38::jsonb, ended_at = now()
  FROM t WHERE tool_calls.team_id = $1::text AND tool_calls.task_id = $2::uuid AND tool_calls.call_id = $33::uuid
), files AS (
  INSERT INTO task_files (team_id, task_id, path, sha256, read_generation, read_in_whole, edited_at)
  SELECT $1::text, $2::uuid, f.path, f.sha256, f.read_generation, f.read_in_whole, CASE WHEN f.edited THEN now() END
  FROM t, ${unnestFiles(39)}
  ${filesConflict}
)`;

export const recordStatement = `${parts} SELECT * FROM t`;
export const recordClosingStatement = `${parts}${closingParts} SELECT * FROM t`;
