import { NightshiftError } from '@nightshift/contracts';
import { eventually, withNats } from '@nightshift/testing';
import { kvKey, kvKeyParts, type Bus, type Kv } from '../index';
import { connectSpecBus } from '../../spec-kit/service';

const nats = withNats();
let bus: Bus;
let kv: Kv;
beforeAll(async () => {
  bus = await connectSpecBus(nats.url, 'model-registry');
  kv = await bus.kv('spec');
});
afterAll(() => bus.close());

const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString();
const code = (work: Promise<unknown>) => work.then(String, (error: unknown) => NightshiftError.from(error).code);

describe('a bucket', () => {
  it('changes a value only at the revision that was read', async () => {
    const key = kvKey('cas');
    const first = await kv.create(key, 'one');
    expect(await code(kv.create(key, 'two'))).toBe('CONFLICT');
    const second = await kv.update(key, 'two', first);
    expect(await code(kv.update(key, 'three', first))).toBe('CONFLICT');
    expect(await kv.get(key)).toMatchObject({ key, revision: second });
    expect(text((await kv.get(key))?.value)).toBe('two');
  });

  it('lets exactly one of many concurrent writers win', async () => {
    const key = kvKey('race');
    const revision = await kv.create(key, '0');
    const codes = await Promise.all(Array.from({ length: 20 }, (_, index) => code(kv.update(key, `${index}`, revision))));
    expect(codes.filter((one) => one === 'CONFLICT')).toHaveLength(19);
  });

  it('knows no value after a delete, and lets it be created again', async () => {
    const key = kvKey('gone');
    await kv.create(key, 'x');
    await kv.delete(key);
    expect(await kv.get(key)).toBeUndefined();
    expect(await kv.get(kvKey('never there'))).toBeUndefined();
    await kv.create(key, 'y');
    expect(text((await kv.get(key))?.value)).toBe('y');
  });

  it('hands over all present values, says ready, then every change with its revision', async () => {
    const own = await bus.kv('watched');
    await own.put('a', '1');
    await own.put('b', '2');
    const seen: string[] = [];
    const watch = await own.watch((change) => seen.push(`${change.key}=${text(change.value) ?? 'deleted'}@${change.revision}`));
    await watch.ready;
    expect(seen).toEqual(['a=1@1', 'b=2@2']);
    await own.put('a', '3');
    await own.delete('b');
    await eventually(() => seen.length === 4);
    expect(seen.slice(2)).toEqual(['a=3@3', 'b=deleted@4']);
    watch.stop();
    await own.put('a', '4');
    await bus.flush();
    expect(seen).toHaveLength(4);
  });

  it('is ready at once when it is empty', async () => {
    const own = await bus.kv('empty');
    const watch = await own.watch(() => undefined);
    await watch.ready;
    watch.stop();
  });

  it('keeps handing over changes after the server was killed and restarted', async () => {
    const own = await bus.kv('restart');
    const seen = new Set<string>();
    await own.put('a', 'before');
    const watch = await own.watch((change) => seen.add(text(change.value) ?? ''));
    await watch.ready;
    await nats.kill();
    await nats.start();
    await eventually(() => own.put('a', 'after'), { timeoutMs: 20_000 });
    await eventually(() => seen.has('after'), { timeoutMs: 20_000 });
    watch.stop();
  }, 45_000);
});

describe('kvKey', () => {
  it.each([[['ollama', 'http://127.0.0.1:11434', 'qwen3:8b/q4 x']], [['', 'ü>*']]])(
    'carries what keys may not hold: %j',
    (parts) => {
      expect(kvKey(...parts)).toMatch(/^[A-Za-z0-9_.-]+$/);
      expect(kvKeyParts(kvKey(...parts))).toEqual(parts);
    },
  );
});
