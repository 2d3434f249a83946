import { create, toBinary } from '@bufbuild/protobuf';
import { llm, transcript } from '@nightshift/contracts';
import { withDatabase } from '@nightshift/testing';
import { callKeyOf } from '../ledger/call-key';
import { CallStore } from '../ledger/call.store';

const database = withDatabase();
const request = (epoch: number): llm.CompleteRequest =>
  create(llm.CompleteRequestSchema, { taskId: 'task', epoch, purpose: 'turn', view: { system: 'x' } });
const first = { provider: 'claude', model: 'a' };
const reply = (text: string): llm.CompleteReply =>
  create(llm.CompleteReplySchema, { message: { blocks: [{ kind: { case: 'text', value: text } }] } });
const attempt = (number: number, over: Omit<Partial<llm.Attempt>, '$typeName' | '$unknown'> = {}): llm.Attempt =>
  create(llm.AttemptSchema, {
    id: `0190a000-0000-7000-8000-00000000000${number}`,
    number,
    provider: 'claude',
    model: 'a',
    outcome: 'ok',
    startedAtMs: 1_700_000_000_000n,
    endedAtMs: 1_700_000_001_500n,
    usage: { inputTotal: 10, outputTotal: 2 },
    ...over,
  });

const stores = (): [CallStore, CallStore] => [new CallStore(database.pool, 'one'), new CallStore(database.pool, 'two')];

it('gives a running call to one process only, and its answer to the others', async () => {
  const [one, two] = stores();
  const key = callKeyOf('acme', request(1));
  expect(await one.claim(key, first)).toEqual({ kind: 'mine', attemptsBefore: 0 });
  expect(await two.claim(key, first)).toEqual({ kind: 'elsewhere' });
  await one.finish(key, [attempt(1)], reply('answer'));
  expect(await two.claim(key, first)).toEqual({ kind: 'finished', answer: reply('answer') });
  expect(await two.attempts('acme', 'task', 10)).toMatchObject([
    { number: 1, outcome: 'ok', usage: { inputTotal: 10, outputTotal: 2 } },
  ]);
});

it('lets a failed call be tried again, with its attempts counted on', async () => {
  const [one, two] = stores();
  const key = callKeyOf('acme', request(2));
  await one.claim(key, first);
  await one.record(key, [attempt(1, { outcome: 'server' })]);
  await one.finish(key, [attempt(2, { outcome: 'server' })], undefined);
  expect(await two.claim(key, first)).toEqual({ kind: 'mine', attemptsBefore: 2 });
});

it('hands the call of a dead process over when its lease is over, and ignores what it still writes', async () => {
  const [one, two] = stores();
  const key = callKeyOf('acme', request(3));
  await one.claim(key, first);
  await database.pool.query("UPDATE llm_calls SET lease_until = now() - interval '1 second' WHERE epoch = 3");
  expect(await two.claim(key, first)).toEqual({ kind: 'mine', attemptsBefore: 1 });
  await one.finish(key, [attempt(1)], reply('too late'));
  await two.finish(key, [attempt(2)], reply('in time'));
  const { rows } = await database.pool.query('SELECT number, outcome FROM llm_attempts WHERE epoch = 3 ORDER BY number');
  expect(rows).toEqual([
    { number: 1, outcome: 'lost' },
    { number: 2, outcome: 'ok' },
  ]);
  expect(await one.claim(key, first)).toEqual({ kind: 'finished', answer: reply('in time') });
});

it('keeps a lease alive while its process renews it', async () => {
  const [one, two] = stores();
  const key = callKeyOf('acme', request(4));
  await one.claim(key, first);
  await database.pool.query("UPDATE llm_calls SET lease_until = now() + interval '1 second' WHERE epoch = 4");
  await one.renew();
  const { rows } = await database.pool.query<{ left: number }>(
    'SELECT extract(epoch FROM lease_until - now())::float AS left FROM llm_calls WHERE epoch = 4',
  );
  expect(rows[0]?.left).toBeGreaterThan(10);
  expect(await two.claim(key, first)).toEqual({ kind: 'elsewhere' });
});

it('forgets an answer after ten minutes and notes calls whose process died', async () => {
  const [one, two] = stores();
  const [old, lost] = [callKeyOf('acme', request(5)), callKeyOf('acme', request(6))];
  await one.claim(old, first);
  await one.finish(old, [attempt(1)], reply('old'));
  await one.claim(lost, first);
  await database.pool.query("UPDATE llm_calls SET ended_at = now() - interval '11 minutes' WHERE epoch = 5");
  await database.pool.query("UPDATE llm_calls SET lease_until = now() - interval '2 minutes' WHERE epoch = 6");
  await two.tidy();
  expect(await two.claim(old, first)).toMatchObject({ kind: 'mine' });
  const { rows } = await database.pool.query('SELECT outcome, number FROM llm_attempts WHERE epoch = 6');
  expect(rows).toEqual([{ outcome: 'lost', number: 1 }]);
});

it('claims many calls in one statement, each for itself', async () => {
  const [one, two] = stores();
  const keys = Array.from({ length: 50 }, (_, index) => callKeyOf('acme', request(100 + index)));
  await Promise.all(keys.slice(0, 20).map((key) => two.claim(key, first)));
  const claims = await Promise.all(keys.map((key) => one.claim(key, first)));
  expect(claims.map((claim) => claim.kind)).toEqual([...Array<string>(20).fill('elsewhere'), ...Array<string>(30).fill('mine')]);
});

it('does not mistake another team, task, purpose or request for the same call', () => {
  const base = request(1);
  const hashes = [
    callKeyOf('acme', base),
    callKeyOf('other', base),
    callKeyOf('acme', create(llm.CompleteRequestSchema, { ...base, purpose: 'summary' })),
    callKeyOf('acme', create(llm.CompleteRequestSchema, { ...base, maxOutputTokens: 7 })),
    callKeyOf('acme', create(llm.CompleteRequestSchema, { ...base, view: create(transcript.ViewSchema, { system: 'y' }) })),
  ].map((key) => JSON.stringify(key));
  expect(new Set(hashes).size).toBe(hashes.length);
  const moved = create(llm.CompleteRequestSchema, { ...base, temperature: 0.5, hasTemperature: true });
  expect(callKeyOf('acme', moved).hash).not.toBe(callKeyOf('acme', base).hash);
  // The bytes that came and the message encoded again are the same call.
  expect(callKeyOf('acme', moved, toBinary(llm.CompleteRequestSchema, moved))).toEqual(callKeyOf('acme', moved));
  // Where in the chain to start does not change what is asked.
  expect(callKeyOf('acme', create(llm.CompleteRequestSchema, { ...base, chainPosition: 1, measuredInputTokens: 9 }))).toEqual(
    callKeyOf('acme', base),
  );
});
