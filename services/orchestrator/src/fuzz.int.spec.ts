import { create, ScalarType } from '@bufbuild/protobuf';
import type { DescField, DescMessage, MessageShape } from '@bufbuild/protobuf';
import { NightshiftError, routes } from '@nightshift/contracts';
import type { CommandRoute, RequestRoute } from '@nightshift/contracts';
import { withDatabase, withNats } from '@nightshift/testing';
import { ScriptedGateway, says } from './scripted/scripted-gateway';
import { ScriptedWorld, team } from './scripted/scripted-world';

const world = new ScriptedWorld();
afterAll(() => world.stop());
const nats = withNats();
const database = withDatabase();
beforeAll(() => world.start(nats.url, database.url));

/** A small generator with a seed, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
const texts = [
  '',
  'x',
  '../..',
  "'; drop table tasks; --",
  '\u0000',
  '\ud83d\ude00',
  'a'.repeat(5_000),
  '0190a000-0000-7000-8000-00000000000f',
  '{}',
  'NaN',
  '%',
  'nightshift.>',
];

function valueOf(field: DescField, next: () => number, known: string, depth: number): unknown {
  const one = (): unknown => {
    if (field.message) return depth > 2 ? undefined : messageOf(field.message, next, known, depth + 1);
    if (field.enum) return Math.floor(next() * 12);
    switch (field.scalar) {
      case ScalarType.STRING:
        return next() < 0.3 ? known : texts[Math.floor(next() * texts.length)];
      case ScalarType.BOOL:
        return next() < 0.5;
      case ScalarType.BYTES:
        return new Uint8Array([1, 2, 255]);
      case ScalarType.INT64:
        return BigInt(Math.floor(next() * 1e15));
      case ScalarType.DOUBLE:
        return [0, -1, 0.5, 1e9, Number.NaN][Math.floor(next() * 5)];
      default:
        return [0, 1, 7, 4_000_000_000][Math.floor(next() * 4)];
    }
  };
  if (field.fieldKind === 'map') return {};
  if (field.fieldKind === 'list')
    return Array.from({ length: Math.floor(next() * 3) }, one).filter((value) => value !== undefined);
  return one();
}

function messageOf<D extends DescMessage>(schema: D, next: () => number, known: string, depth = 0): MessageShape<D> {
  const init: Record<string, unknown> = {};
  for (const field of schema.fields) {
    const value = next() < 0.7 ? valueOf(field, next, known, depth) : undefined;
    if (value === undefined) continue;
    if (field.oneof) init[field.oneof.localName] = { case: field.localName, value };
    else init[field.localName] = value;
  }
  return create(schema, init as never);
}

it('random requests are answered or refused, never with an internal error', async () => {
  ScriptedGateway.reset(() => says('ok'));
  const { id } = await world.create();
  const owned = Object.values(routes).filter(
    (route): route is RequestRoute & typeof route =>
      route.delivery === 'request' && route.owner === 'orchestrator' && !route.fanOut,
  );
  const next = random(42);
  const internal: string[] = [];
  for (const route of owned) {
    for (let round = 0; round < 15; round += 1) {
      const message = messageOf(route.input, next, id);
      try {
        await world.orchestrator.bus.request(route as RequestRoute, message, { ...team, deadlineMs: 20_000 });
      } catch (error) {
        const { code, message: said } = NightshiftError.from(error);
        if (code === 'INTERNAL' || code === 'DEADLINE_EXCEEDED') internal.push(`${route.name}: ${said}`);
      }
    }
  }
  expect(internal).toEqual([]);
}, 60_000);

it('random commands leave the service able to work, and change no task that they do not name rightly', async () => {
  ScriptedGateway.reset(() => says('', [{ name: 'finish', args: { result: 'ok' } }]));
  const next = random(7);
  const commands = [routes.taskStep, routes.toolFinished, routes.compactionFinished] as readonly CommandRoute[];
  for (const route of commands) {
    for (let round = 0; round < 20; round += 1) {
      const message = messageOf(route.input, next, '0190a000-0000-7000-8000-00000000000e');
      await world.orchestrator.bus.command(route, message, { ...team, messageId: `fuzz-${route.name}-${round}` });
    }
  }
  const { id } = await world.create();
  const { eventually } = await import('@nightshift/testing');
  await eventually(() => world.expectState(id, 6));
});
