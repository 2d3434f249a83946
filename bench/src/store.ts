import { randomBytes } from 'node:crypto';
import { Bus } from '@nightshift/bus';
import { routes } from '@nightshift/contracts';
import { createPool, type Pool } from '@nightshift/db';
import { createLogger, createMetrics } from '@nightshift/metrics';
import { startStack } from '@nightshift/testing';
import { goal, median, report, runToEnd } from './report';

/**
 * What the tool-result store costs: put and get of 20 KB results from this process over NATS, as a share of the same bytes
 * written to and read from Postgres directly. Rounds alternate, since a shared machine changes its speed all the time.
 */
const rounds = 7;
const resultsPerRound = 640;
const concurrency = 32;
const bytes = 20_000;
const team = 'bench';

/** Every result is new, or the store would only find that it has it; half of it is text that compresses, as output does. */
function contents(): Buffer[] {
  return Array.from({ length: resultsPerRound }, () =>
    Buffer.concat(
      [randomBytes(bytes / 4).toString('hex'), 'one line of a log\n'.repeat(bytes)].map((text) => Buffer.from(text)),
      bytes,
    ),
  );
}

/** @returns results per second */
async function perSecond(results: readonly Buffer[], once: (content: Buffer) => Promise<void>): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let content = results[next++]; content; content = results[next++]) await once(content);
    }),
  );
  return results.length / ((performance.now() - startedAt) / 1000);
}

function expectSame(got: Uint8Array | undefined, content: Buffer): void {
  if (!got || !content.equals(got)) throw new Error('other bytes came back than were put');
}

async function main(): Promise<void> {
  const stack = await startStack({ services: ['tool-result-store'], env: { all: { LOG_LEVEL: 'warn' } } });
  const bus = await Bus.connect(
    { url: stack.natsUrl, service: 'orchestrator', instance: 'bench', ackWaitMs: 30_000, onDrift: 'fail' },
    createMetrics('orchestrator'),
    createLogger({ service: 'bench', level: 'warn' }),
  );
  const pool: Pool = createPool({ DATABASE_URL: stack.databaseUrl, DATABASE_POOL_SIZE: 8 });
  let row = 0;
  const raw = async (content: Buffer): Promise<void> => {
    const id = ++row;
    await pool.query('INSERT INTO bench_results (id, content) VALUES ($1, $2)', [id, content]);
    const { rows } = await pool.query<{ content: Buffer }>('SELECT content FROM bench_results WHERE id = $1', [id]);
    expectSame(rows[0]?.content, content);
  };
  const overNats = async (content: Buffer): Promise<void> => {
    const { id } = await bus.request(routes.toolresultPut, { rootId: 'root', taskId: 'task', tool: 'bench', content }, { team });
    const got = await bus.request(routes.toolresultGet, { rootId: 'root', id }, { team });
    expectSame(got.content, content);
  };
  try {
    await pool.query('CREATE TABLE bench_results (id bigint PRIMARY KEY, content bytea NOT NULL)');
    const found: { raw: number; store: number }[] = [];
    // The first round runs code that is not compiled yet.
    for (let round = 0; round <= rounds; round++) {
      const results = contents();
      const figures = { raw: await perSecond(results, raw), store: await perSecond(results, overNats) };
      if (round > 0) found.push(figures);
    }
    report(
      'store',
      {
        'result size, bytes': bytes,
        concurrency,
        'raw Postgres, put + get per second': median(found.map((each) => each.raw)),
        'store over NATS, put + get per second': median(found.map((each) => each.store)),
      },
      { 'share of raw Postgres': goal(median(found.map((each) => each.store / each.raw)), '>=', 0.35) },
    );
  } finally {
    await bus.close();
    await pool.end();
    await stack.stop();
  }
}

runToEnd(main);
