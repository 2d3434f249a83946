import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { fromMs, llm, toMs, transcript } from '@nightshift/contracts';
import { create } from '@bufbuild/protobuf';
import type { Pool } from '@nightshift/db';
import { keyText, type CallKey } from './call-key';
import { GroupCommit } from './group-commit';

/** How long a call may go without a sign of life of its process before another one takes it over. */
export const leaseSeconds = 15;
/** How long a finished answer is kept for a caller that lost it. */
export const answerKeptMinutes = 10;
const attemptsKeptDays = 90;
const callsKeptDays = 7;

export type Claim =
  | { kind: 'mine'; attemptsBefore: number }
  | { kind: 'finished'; answer: llm.CompleteReply }
  | { kind: 'elsewhere' };

// The hot statements take any number of calls, so that concurrent ones share a round trip and a commit.
const claimSql = `
  INSERT INTO llm_calls (team_id, task_id, epoch, purpose, request_hash, state, owner, lease_until, provider, model)
  SELECT k.team, k.task, k.epoch, k.purpose, k.hash, 'running', $6, now() + interval '${leaseSeconds} seconds', k.provider, k.model
  FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $7::text[], $8::text[])
      AS k(team, task, epoch, purpose, hash, provider, model)
  ON CONFLICT DO NOTHING
  RETURNING team_id, task_id, epoch, purpose, request_hash`;

// A call that is alone, which most are, is claimed a third faster without the arrays.
const claimOneSql = `
  INSERT INTO llm_calls (team_id, task_id, epoch, purpose, request_hash, state, owner, lease_until, provider, model)
  VALUES ($1, $2, $3, $4, $5, 'running', $6, now() + interval '${leaseSeconds} seconds', $7, $8) ON CONFLICT DO NOTHING`;

// For a call that has a row already: it is taken over where it failed, lost its answer, or its process is dead.
const takeOverSql = `
  WITH before AS (
    SELECT * FROM llm_calls WHERE (team_id, task_id, epoch, purpose, request_hash) = ($1, $2, $3, $4, $5)
      AND (state IN ('failed', 'lost') OR (state = 'finished' AND answer IS NULL)
        OR (state = 'running' AND (lease_until < now() OR owner = $6)))
    FOR UPDATE
  ), lost AS (
    INSERT INTO llm_attempts (team_id, task_id, epoch, purpose, request_hash, number, id, provider, model, endpoint, outcome, message, started_at, ended_at)
    SELECT team_id, task_id, epoch, purpose, request_hash, attempts + 1, gen_random_uuid(), provider, model, '', 'lost',
           'the gateway process ended during the call', started_at, now()
    FROM before WHERE state = 'running' ON CONFLICT DO NOTHING
  )
  UPDATE llm_calls c
  SET state = 'running', owner = $6, lease_until = now() + interval '${leaseSeconds} seconds', provider = $7, model = $8,
      started_at = now(), ended_at = NULL, answer = NULL, attempts = b.attempts + CASE WHEN b.state = 'running' THEN 1 ELSE 0 END
  FROM before b
  WHERE (c.team_id, c.task_id, c.epoch, c.purpose, c.request_hash) = (b.team_id, b.task_id, b.epoch, b.purpose, b.request_hash)
  RETURNING c.attempts`;

const lookSql = `SELECT state, answer FROM llm_calls WHERE team_id = $1 AND task_id = $2 AND epoch = $3 AND purpose = $4 AND request_hash = $5`;

const insertAttempts = `
    INSERT INTO llm_attempts
      (team_id, task_id, epoch, purpose, request_hash, number, id, provider, model, endpoint, outcome, error_code, message, why,
       http_status, wait_ms, started_at, ended_at, input_total, cache_read, cache_write, output_total, reasoning, usage_source,
       silently_truncated)
    SELECT a.team, a.task, a.epoch, a.purpose, a.hash, a.number, a.id, a.provider, a.model, a.endpoint, a.outcome, a.error_code,
           a.message, a.why, a.http_status, a.wait_ms, to_timestamp(a.started_ms / 1000.0), to_timestamp(a.ended_ms / 1000.0),
           a.input_total, a.cache_read, a.cache_write, a.output_total, a.reasoning, a.usage_source, a.silently_truncated
    FROM jsonb_to_recordset($1::jsonb) AS a(team text, task text, epoch int, purpose text, hash text, number int, id uuid,
      provider text, model text, endpoint text, outcome text, error_code text, message text, why text, http_status int, wait_ms int,
      started_ms bigint, ended_ms bigint, input_total int, cache_read int, cache_write int, output_total int, reasoning int,
      usage_source int, silently_truncated boolean)
    ON CONFLICT DO NOTHING`;

// One statement for the whole outcome: the attempts that were not written yet, and the calls themselves.
const finishSql = `
  WITH written AS (${insertAttempts})
  UPDATE llm_calls c SET state = k.state, answer = k.answer, ended_at = CASE WHEN k.state = 'running' THEN NULL ELSE now() END,
      attempts = greatest(c.attempts, k.attempts)
  FROM unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::bytea[], $9::int[])
    AS k(team, task, epoch, purpose, hash, state, answer, attempts)
  WHERE c.team_id = k.team AND c.task_id = k.task AND c.epoch = k.epoch AND c.purpose = k.purpose AND c.request_hash = k.hash
    AND c.owner = $10`;

interface Outcome {
  key: CallKey;
  attempts: readonly llm.Attempt[];
  state: 'running' | 'finished' | 'failed';
  answer: Buffer | null;
}
interface Wanted {
  key: CallKey;
  first: { provider: string; model: string };
}

const keyColumns = (items: readonly { key: CallKey }[]): [string[], string[], number[], string[], string[]] => [
  items.map((one) => one.key.team),
  items.map((one) => one.key.task),
  items.map((one) => one.key.epoch),
  items.map((one) => one.key.purpose),
  items.map((one) => one.key.hash),
];

/**
 * The same database with commits that do not wait for the disk (three times faster). For claims only: they guard against
 * paying twice and are nothing to account for. What a crash of the server may lose of them is half a second.
 */
export function quickCommits(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', '-c synchronous_commit=off');
  return url.href;
}

/** The call and attempt ledger in Postgres. Lease times are the database's clock. */
export class CallStore {
  private readonly claims = new GroupCommit<Wanted, boolean>((items) => this.claimAll(items), { largest: 128 });
  private readonly outcomes = new GroupCommit<Outcome, void>((items) => this.writeAll(items), { largest: 128, gatherMs: 50 });

  constructor(
    private readonly pool: Pool,
    private readonly owner: string,
    /** Connections whose commits do not wait for the disk; see `quickCommits`. */
    private readonly quickPool: Pool = pool,
  ) {}

  /** Claims a call before anything is spent on it. A process must not claim the same call twice at the same time. */
  async claim(key: CallKey, first: { provider: string; model: string }): Promise<Claim> {
    if (await this.claims.run({ key, first })) return { kind: 'mine', attemptsBefore: 0 };
    const values = [key.team, key.task, key.epoch, key.purpose, key.hash];
    const taken = await this.pool.query<{ attempts: number }>({
      name: 'llm-take-over',
      text: takeOverSql,
      values: [...values, this.owner, first.provider, first.model],
    });
    if (taken.rows[0]) return { kind: 'mine', attemptsBefore: taken.rows[0].attempts };
    const found = await this.pool.query<{ state: string; answer: Buffer | null }>({ name: 'llm-look', text: lookSql, values });
    const answer = found.rows[0]?.answer;
    if (answer) return { kind: 'finished', answer: fromBinary(llm.CompleteReplySchema, answer) };
    return { kind: 'elsewhere' };
  }

  /** Writes attempts of a call that goes on. */
  record(key: CallKey, attempts: readonly llm.Attempt[]): Promise<void> {
    return this.outcomes.run({ key, attempts, state: 'running', answer: null });
  }

  finish(key: CallKey, attempts: readonly llm.Attempt[], answer: llm.CompleteReply | undefined): Promise<void> {
    const bytes = answer ? Buffer.from(toBinary(llm.CompleteReplySchema, answer)) : null;
    return this.outcomes.run({ key, attempts, state: answer ? 'finished' : 'failed', answer: bytes });
  }

  /** Attempts of calls that have no row of their own (front doors). */
  async recordAlone(attempts: readonly { key: CallKey; attempt: llm.Attempt }[]): Promise<void> {
    const rows = attempts.map(({ key, attempt }) => rowOf(key, attempt));
    await this.pool.query({ name: 'llm-attempts-alone', text: insertAttempts, values: [JSON.stringify(rows)] });
  }

  /** Ends the connections that only this store uses. */
  async close(): Promise<void> {
    if (this.quickPool !== this.pool) await this.quickPool.end();
  }

  /** Keeps every running call of this process; one statement whatever their number. */
  async renew(): Promise<void> {
    await this.pool.query(
      `UPDATE llm_calls SET lease_until = now() + interval '${leaseSeconds} seconds' WHERE state = 'running' AND owner = $1`,
      [this.owner],
    );
  }

  /** Forgets answers and old rows, and notes calls whose process died: nobody knows what they cost. */
  async tidy(): Promise<void> {
    await this.pool.query(
      `UPDATE llm_calls SET answer = NULL WHERE answer IS NOT NULL AND ended_at < now() - interval '${answerKeptMinutes} minutes'`,
    );
    await this.pool.query(`
      WITH gone AS (
        UPDATE llm_calls SET state = 'lost', ended_at = now(), attempts = attempts + 1
        WHERE state = 'running' AND lease_until < now() - interval '60 seconds' RETURNING *
      )
      INSERT INTO llm_attempts (team_id, task_id, epoch, purpose, request_hash, number, id, provider, model, endpoint, outcome, message, started_at, ended_at)
      SELECT team_id, task_id, epoch, purpose, request_hash, attempts, gen_random_uuid(), provider, model, '', 'lost',
             'the gateway process ended during the call', started_at, now()
      FROM gone ON CONFLICT DO NOTHING`);
    await this.pool.query(
      `DELETE FROM llm_calls WHERE started_at < now() - interval '${callsKeptDays} days' AND state <> 'running'`,
    );
    await this.pool.query(`DELETE FROM llm_attempts WHERE started_at < now() - interval '${attemptsKeptDays} days'`);
  }

  /** The newest attempts of a task first. */
  async attempts(team: string, task: string, limit: number): Promise<llm.Attempt[]> {
    const { rows } = await this.pool.query<AttemptRow>({
      name: 'llm-attempts',
      text: "SELECT * FROM llm_attempts WHERE team_id = $1 AND ($2 = '' OR task_id = $2) ORDER BY started_at DESC, number DESC LIMIT $3",
      values: [team, task, limit],
    });
    return rows.map(attemptOf);
  }

  /** Whether each call was new. */
  private async claimAll(items: readonly Wanted[]): Promise<boolean[]> {
    if (items.length === 1) {
      const { key, first } = items[0] as Wanted;
      const values = [key.team, key.task, key.epoch, key.purpose, key.hash, this.owner, first.provider, first.model];
      const { rowCount } = await this.quickPool.query({ name: 'llm-claim-one', text: claimOneSql, values });
      return [rowCount === 1];
    }
    const { rows } = await this.quickPool.query<{
      team_id: string;
      task_id: string;
      epoch: number;
      purpose: string;
      request_hash: string;
    }>({
      name: 'llm-claim',
      text: claimSql,
      values: [...keyColumns(items), this.owner, items.map((one) => one.first.provider), items.map((one) => one.first.model)],
    });
    const claimed = new Set(
      rows.map((row) =>
        keyText({ team: row.team_id, task: row.task_id, epoch: row.epoch, purpose: row.purpose, hash: row.request_hash }),
      ),
    );
    return items.map((one) => claimed.has(keyText(one.key)));
  }

  private async writeAll(items: readonly Outcome[]): Promise<void[]> {
    const rows = items.flatMap((one) => one.attempts.map((attempt) => rowOf(one.key, attempt)));
    await this.pool.query({
      name: 'llm-finish',
      text: finishSql,
      values: [
        JSON.stringify(rows),
        ...keyColumns(items),
        items.map((one) => one.state),
        items.map((one) => one.answer),
        items.map((one) => one.attempts.at(-1)?.number ?? 0),
        this.owner,
      ],
    });
    return items.map(() => undefined);
  }
}

interface AttemptRow {
  task_id: string;
  epoch: number;
  purpose: string;
  number: number;
  id: string;
  provider: string;
  model: string;
  endpoint: string;
  outcome: string;
  error_code: string;
  message: string;
  why: string;
  http_status: number;
  wait_ms: number;
  started_at: Date;
  ended_at: Date;
  input_total: number;
  cache_read: number;
  cache_write: number;
  output_total: number;
  reasoning: number;
  usage_source: number;
  silently_truncated: boolean;
}

/** Postgres takes neither NUL nor half a surrogate pair, and providers' texts hold whatever they hold. */
function storable(text: string): string {
  return text === '' ? text : text.replaceAll('\0', '').toWellFormed();
}

/** One literal: an object put together by spreads is written as JSON ten times slower. */
function rowOf(key: CallKey, attempt: llm.Attempt): Record<string, unknown> {
  const usage = attempt.usage;
  return {
    team: key.team,
    task: key.task,
    epoch: key.epoch,
    purpose: key.purpose,
    hash: key.hash,
    number: attempt.number,
    id: attempt.id,
    provider: attempt.provider,
    model: attempt.model,
    endpoint: attempt.endpoint,
    outcome: attempt.outcome,
    error_code: storable(attempt.errorCode),
    message: storable(attempt.message),
    why: attempt.why,
    http_status: attempt.httpStatus,
    wait_ms: attempt.waitMs,
    started_ms: toMs(attempt.startedAtMs),
    ended_ms: toMs(attempt.endedAtMs),
    input_total: usage?.inputTotal ?? 0,
    cache_read: usage?.cacheRead ?? 0,
    cache_write: usage?.cacheWrite ?? 0,
    output_total: usage?.outputTotal ?? 0,
    reasoning: usage?.reasoning ?? 0,
    usage_source: usage?.source ?? transcript.UsageSource.UNSPECIFIED,
    silently_truncated: usage?.silentlyTruncated ?? false,
  };
}

function attemptOf(row: AttemptRow): llm.Attempt {
  return create(llm.AttemptSchema, {
    id: row.id,
    number: row.number,
    provider: row.provider,
    model: row.model,
    endpoint: row.endpoint,
    outcome: row.outcome,
    errorClass: row.outcome === 'ok' ? '' : row.outcome,
    errorCode: row.error_code,
    message: row.message,
    why: row.why,
    httpStatus: row.http_status,
    waitMs: row.wait_ms,
    startedAtMs: fromMs(row.started_at.getTime()),
    endedAtMs: fromMs(row.ended_at.getTime()),
    taskId: row.task_id,
    purpose: row.purpose,
    epoch: row.epoch,
    usage: {
      inputTotal: row.input_total,
      cacheRead: row.cache_read,
      cacheWrite: row.cache_write,
      outputTotal: row.output_total,
      reasoning: row.reasoning,
      source: row.usage_source,
      silentlyTruncated: row.silently_truncated,
    },
  });
}
