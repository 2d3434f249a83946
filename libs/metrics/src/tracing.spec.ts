import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-node';
import { NightshiftError } from '@nightshift/contracts';
import { createLogger, extractTrace, initTracing, injectTrace, withSpan, type Tracing } from './index';

const carrier = (headers: Record<string, string>) => (name: string) => headers[name];
const injected = (): Record<string, string> => {
  const headers: Record<string, string> = {};
  injectTrace((name, value) => (headers[name] = value));
  return headers;
};

describe('tracing that is off', () => {
  it('runs the work and adds no headers', async () => {
    const tracing = initTracing({ service: 's' });
    expect(tracing.on).toBe(false);
    expect(await withSpan('x', {}, async (span) => [span, injected()])).toEqual([undefined, {}]);
  });
});

describe('tracing', () => {
  const exporter = new InMemorySpanExporter();
  let tracing: Tracing;
  beforeAll(() => {
    tracing = initTracing({ service: 'api', instance: 'i1', exporter });
  });
  afterAll(() => tracing.shutdown());
  beforeEach(() => exporter.reset());

  it('carries one trace over the headers of a message', async () => {
    const headers = await withSpan('send', { a: 1 }, async () => injected());
    expect(headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    await withSpan('receive', {}, async () => undefined, { parent: carrier(headers) });
    const [sent, received] = exporter.getFinishedSpans();
    expect(received!.spanContext().traceId).toBe(sent!.spanContext().traceId);
    expect(received!.parentSpanContext?.spanId).toBe(sent!.spanContext().spanId);
    expect(sent!.attributes).toEqual({ a: 1 });
    expect(sent!.resource.attributes).toMatchObject({ 'service.name': 'api', 'service.namespace': 'nightshift' });
  });

  it('links a redelivery instead of making it a child', async () => {
    const headers = await withSpan('send', {}, async () => injected());
    await withSpan('receive', {}, async () => undefined, { link: carrier(headers) });
    const [sent, received] = exporter.getFinishedSpans();
    expect(received!.spanContext().traceId).not.toBe(sent!.spanContext().traceId);
    expect(received!.links.map((link) => link.context.spanId)).toEqual([sent!.spanContext().spanId]);
  });

  it('records a failure with its code and throws it on', async () => {
    await expect(withSpan('x', {}, () => Promise.reject(new NightshiftError('BUSY', 'full')))).rejects.toThrow('BUSY: full');
    const [span] = exporter.getFinishedSpans();
    expect(span!.status).toEqual({ code: 2, message: 'full' });
    expect(span!.attributes).toEqual({ 'error.type': 'BUSY' });
  });

  it('puts the ids of the active trace into every log line', async () => {
    const lines: string[] = [];
    const log = createLogger({ service: 'api', write: (line) => lines.push(line) });
    await withSpan('x', {}, async () => log.info('inside'));
    log.info('outside');
    const [span] = exporter.getFinishedSpans();
    expect(JSON.parse(lines[0]!)).toMatchObject({ trace_id: span!.spanContext().traceId, span_id: span!.spanContext().spanId });
    expect(JSON.parse(lines[1]!)).not.toHaveProperty('trace_id');
  });

  it('reads no context from a message without one', () => {
    expect(extractTrace(carrier({}))).toBeDefined();
  });
});
