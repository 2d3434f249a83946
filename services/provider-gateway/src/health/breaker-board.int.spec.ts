import { Bus, type Kv } from '@nightshift/bus';
import { createLogger, createMetrics } from '@nightshift/metrics';
import { eventually, withNats } from '@nightshift/testing';
import type { Classified } from '../classify/classify';
import { classify } from '../classify/classify';
import { BreakerBoard, type Permit } from './breaker-board';

const nats = withNats();
const name = { provider: 'claude', credential: 'abcd1234', model: 'claude:a/b c' };
const server: Classified = classify({ status: 500, headers: {}, text: '', inBand: false }, 0);
let bus: Bus;
let now = 1_000_000;
const boards: { stop(): void }[] = [];

beforeAll(async () => {
  bus = await Bus.connect(
    { url: nats.url, service: 'provider-gateway', instance: 'spec', ackWaitMs: 5_000, onDrift: 'fail' },
    createMetrics('spec'),
    createLogger({ service: 'spec', level: 'silent' }),
  );
});
afterAll(async () => {
  for (const board of boards) board.stop();
  await bus?.close();
});

const trips: string[] = [];
async function replica(owner: string, bucket: Kv): Promise<BreakerBoard> {
  const board = new BreakerBoard(
    owner,
    { onTrip: () => trips.push(owner), onChange: () => undefined, onStoreFault: () => undefined },
    () => now,
  );
  boards.push(await board.follow(bucket));
  return board;
}
const stateOf = (board: BreakerBoard): string | undefined => board.reports()[0]?.state;
const granted = (permit: Permit): Extract<Permit, { allowed: true }> => {
  if (!permit.allowed) throw new Error(`refused: ${permit.reason}`);
  return permit;
};

it('shares what one replica learned, lets one probe through all of them, and survives a restart', async () => {
  const bucket = await bus.kv('provider_health');
  const a = await replica('a', bucket);
  const b = await replica('b', bucket);

  // a sees three failures; b knows without a call of its own.
  for (let count = 0; count < 3; count++) a.report(granted(await a.permit(name)), { kind: 'failed', failure: server });
  await eventually(() => stateOf(b) === 'open');
  expect(await b.permit(name)).toMatchObject({ allowed: false, reason: 'server' });
  expect(trips).toEqual(['a']);

  // Other models of the provider are not touched.
  expect(await b.permit({ ...name, model: 'other' })).toMatchObject({ allowed: true });

  // A replica that starts now takes over what the bucket holds.
  const c = await replica('c', bucket);
  expect(stateOf(c)).toBe('open');

  // The time is over: fifty callers on three replicas, one probe.
  now += 30_001;
  const permits = await Promise.all(Array.from({ length: 51 }, (_, index) => [a, b, c][index % 3]?.permit(name)));
  const allowed = permits.flatMap((permit, index) => (permit?.allowed ? [{ permit, board: [a, b, c][index % 3] }] : []));
  expect(allowed).toHaveLength(1);

  // Its success is not enough, two more close the breaker everywhere.
  allowed[0]?.board?.report(allowed[0].permit, { kind: 'ok' });
  await eventually(() => [a, b, c].every((board) => board.reports()[0]?.probesPassed === 1));
  for (const board of [b, c]) {
    now += 5_001;
    const passed = (board.reports()[0]?.probesPassed ?? 0) + 1;
    board.report(granted(await board.permit(name)), { kind: 'ok' });
    await eventually(() => [a, b, c].every((one) => one.reports()[0]?.probesPassed === passed || stateOf(one) === 'closed'));
  }
  await eventually(() => [a, b, c].every((board) => stateOf(board) === 'closed'));
});

it('ignores outcomes of calls that began before the breaker changed', async () => {
  const bucket = await bus.kv('provider_health');
  const a = await replica('d', bucket);
  const slow = granted(await a.permit({ ...name, model: 'slow' }));
  for (let count = 0; count < 3; count++) {
    a.report(granted(await a.permit({ ...name, model: 'slow' })), { kind: 'failed', failure: server });
  }
  a.report(slow, { kind: 'ok' });
  expect(a.reports().find((report) => report.model === 'slow')?.state).toBe('open');
});

it('decides for itself while the bucket is away, and catches up afterwards', async () => {
  const bucket = await bus.kv('provider_health');
  const a = await replica('e', bucket);
  await nats.kill();
  const alone = { ...name, model: 'alone' };
  for (let count = 0; count < 3; count++) a.report(granted(await a.permit(alone)), { kind: 'failed', failure: server });
  expect(await a.permit(alone)).toMatchObject({ allowed: false });
  await nats.start();
});
