import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { TracingOptions } from './tracing';

/** The exporting half of tracing. A file of its own because loading it costs a process 0.2 s, and most never trace. */
export function registerProvider(options: TracingOptions, endpoint: string | undefined): NodeTracerProvider {
  const processor = options.exporter
    ? new SimpleSpanProcessor(options.exporter)
    : new BatchSpanProcessor(
        new OTLPTraceExporter({ url: endpoint?.endsWith('/v1/traces') ? endpoint : `${endpoint}/v1/traces` }),
      );
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.namespace': 'nightshift',
      'service.name': options.service,
      'service.instance.id': options.instance ?? '',
      'service.version': options.version ?? '',
    }),
    spanProcessors: [processor],
  });
  provider.register({ contextManager: new AsyncLocalStorageContextManager().enable() });
  return provider;
}
