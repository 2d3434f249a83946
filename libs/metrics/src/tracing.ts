import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, Link, Span } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import { NightshiftError } from '@nightshift/contracts';

export interface TracingOptions {
  service: string;
  instance?: string;
  version?: string;
  /** Base URL of an OTLP/HTTP collector. Without it and without `exporter` tracing stays off and costs next to nothing. */
  endpoint?: string;
  /** For tests: spans are exported one by one. */
  exporter?: SpanExporter;
}
export interface Tracing {
  on: boolean;
  /** Sends one span and waits until it is out: why spans do not come out, or undefined. */
  check(): Promise<string | undefined>;
  shutdown(): Promise<void>;
}

let on = false;
const tracer = trace.getTracer('nightshift');

/** Starts tracing for the process when an endpoint or an exporter is given. */
export function initTracing(options: TracingOptions): Tracing {
  const endpoint = options.endpoint?.replace(/\/$/, '');
  if (endpoint === undefined && options.exporter === undefined)
    return { on: false, check: () => Promise.resolve(undefined), shutdown: () => Promise.resolve() };
  // eslint-disable-next-line @typescript-eslint/no-require-imports, @typescript-eslint/consistent-type-imports -- loaded only where spans are exported
  const { registerProvider } = require('./tracing-provider') as typeof import('./tracing-provider');
  const provider = registerProvider(options, endpoint);
  on = true;
  return {
    on: true,
    async check() {
      tracer.startSpan('tracing self-check').end();
      try {
        await provider.forceFlush();
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    async shutdown() {
      on = false;
      await provider.shutdown();
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

export interface SpanOptions {
  kind?: SpanKind;
  /** Trace headers of the message that caused this work. */
  parent?: TraceCarrier;
  /** Headers of a message this work follows from without being its child: redelivery and batches make a parent misleading. */
  link?: TraceCarrier;
}

/** Reads one header. */
export type TraceCarrier = (name: string) => string | undefined;

const setter = { set: (carrier: (name: string, value: string) => void, name: string, value: string) => carrier(name, value) };
const getter = {
  get: (carrier: TraceCarrier, name: string) => carrier(name),
  keys: () => ['traceparent', 'tracestate'],
};

/** Hands traceparent (and tracestate) of the active span to `set`; nothing when tracing is off. */
export function injectTrace(set: (name: string, value: string) => void): void {
  if (on) propagation.inject(context.active(), set, setter);
}

/** The context that the headers of a message carry. */
export function extractTrace(carrier: TraceCarrier): Context {
  return on ? propagation.extract(ROOT_CONTEXT, carrier, getter) : ROOT_CONTEXT;
}

/** Runs `work` inside a span that ends with it and records its failure. When tracing is off this is a plain call. */
export async function withSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span: Span | undefined) => Promise<T>,
  options: SpanOptions = {},
): Promise<T> {
  if (!on) return work(undefined);
  const parent = options.parent ? extractTrace(options.parent) : context.active();
  const linked = options.link ? trace.getSpanContext(extractTrace(options.link)) : undefined;
  const links: Link[] = linked ? [{ context: linked }] : [];
  const span = tracer.startSpan(name, { attributes, kind: options.kind ?? SpanKind.INTERNAL, links }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    const fault = NightshiftError.from(error);
    span.setAttribute('error.type', fault.code);
    span.setStatus({ code: SpanStatusCode.ERROR, message: fault.text });
    throw error;
  } finally {
    span.end();
  }
}
