import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { estimateEntry, measure } from '@nightshift/compaction';
import { transcript } from '@nightshift/contracts';
import { migrate, Pool } from '@nightshift/db';
import { startPostgres } from '@nightshift/local-stack';
import { goal, median, percentile, report } from './report';

/**
 * What it costs to know the size of a task after one more message: read what is new from Postgres as a step does (what came
 * after the last seq that this process holds), decode it, measure. A long task must not pay for its length.
 */
const team = 'bench';
const long = { id: '01940000-0000-7000-8000-00000000aaaa', messages: 10_000 };
const short = { id: '01940000-0000-7000-8000-00000000bbbb', messages: 100 };
const rounds = 400;
const warmUp = 100;

interface Task {
  readonly id: string;
  through: number;
  usage: transcript.BoundUsage;
}

function entryOf(seq: number): transcript.Entry {
  const parts = [create(transcript.PartSchema, { kind: { case: 'text', value: `line ${seq} of what was found\n`.repeat(16) } })];
  const value = create(transcript.ToolResultSchema, { callId: `call-${seq}`, tool: 'read_file', parts });
  return create(transcript.EntrySchema, { seq, id: `entry-${seq}`, atMs: BigInt(seq), body: { case: 'toolResult', value } });
}

/** Rows as the orchestrator writes them: the estimate is made once, when the entry is appended. */
async function append(pool: Pool, task: string, from: number, count: number): Promise<void> {
  for (let first = from; first < from + count; first += 500) {
    const entries = Array.from({ length: Math.min(500, from + count - first) }, (_, i) => entryOf(first + i));
    const bodies = entries.map((entry) => Buffer.from(toBinary(transcript.EntrySchema, entry)));
    await pool.query(
      `INSERT INTO task_entries (team_id, task_id, seq, kind, bytes, estimated_tokens, body)
       SELECT $1, $2, seq, 'tool_result', octet_length(body), estimate, body
       FROM unnest($3::int[], $4::int[], $5::bytea[]) AS new (seq, estimate, body)`,
      [team, task, entries.map(({ seq }) => seq), entries.map(estimateEntry), bodies],
    );
  }
}

async function measured(pool: Pool, task: Task): Promise<number> {
  const { rows } = await pool.query<{ seq: number; estimated_tokens: number; body: Buffer }>({
    name: 'fresh_entries',
    text: 'SELECT seq, estimated_tokens, body FROM task_entries WHERE team_id = $1 AND task_id = $2 AND seq > $3 ORDER BY seq',
    values: [team, task.id, task.through],
  });
  let appendedEstimate = 0;
  for (const row of rows) {
    appendedEstimate += row.estimated_tokens;
    task.through = fromBinary(transcript.EntrySchema, row.body).seq;
  }
  const now = { generation: 0, provider: 'p', model: 'm', prefixSha256: 'x', prefixEstimate: 1_000 };
  return measure({ ...now, usage: task.usage, appendedEstimate, messagesEstimate: 0 }).tokens;
}

async function taskOf(pool: Pool, { id, messages }: { id: string; messages: number }): Promise<Task> {
  await append(pool, id, 1, messages);
  const usage = create(transcript.UsageSchema, { inputTotal: messages * 120, source: transcript.UsageSource.TERMINAL });
  const bound = {
    usage,
    generation: 0,
    throughSeq: messages,
    provider: 'p',
    model: 'm',
    prefixSha256: 'x',
    prefixEstimate: 1_000,
  };
  return { id, through: messages, usage: create(transcript.BoundUsageSchema, bound) };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'nightshift-bench-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), durable: false });
  const pool = new Pool({ connectionString: postgres.url, max: 1 });
  try {
    await migrate(postgres.url);
    const tasks = { long: await taskOf(pool, long), short: await taskOf(pool, short) };
    await pool.query('ANALYZE task_entries');
    const times = { long: [] as number[], short: [] as number[] };
    for (let round = 0; round < warmUp + rounds; round++) {
      for (const name of ['long', 'short'] as const) {
        const task = tasks[name];
        await append(pool, task.id, task.through + 1, 1);
        const from = performance.now();
        await measured(pool, task);
        if (round >= warmUp) times[name].push(performance.now() - from);
      }
    }
    const ratio = median(times.long) / median(times.short);
    report(
      'measure',
      {
        messages_long: long.messages,
        messages_short: short.messages,
        long_ms_p50: median(times.long),
        short_ms_p50: median(times.short),
        long_ms_p95: percentile(times.long, 0.95),
        short_ms_p95: percentile(times.short, 0.95),
      },
      { 'one message on 10 000 / on 100': goal(ratio, '<=', 1.5) },
    );
  } finally {
    await pool.end();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
