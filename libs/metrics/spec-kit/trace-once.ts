import { initTracing, withSpan } from '../src/index';

/** A process of its own for tracing.int.spec.ts: the exporter loads its transport in a way that Jest's module system refuses. */
async function main(): Promise<void> {
  const tracing = initTracing({ service: 'api', endpoint: process.argv[2] ?? '' });
  await withSpan('chat m', { 'gen_ai.request.model': 'm' }, async () => undefined);
  process.stdout.write((await tracing.check()) ?? 'fine');
  process.exit(0);
}
void main();
