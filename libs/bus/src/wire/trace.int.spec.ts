import { Controller } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-node';
import { routes } from '@nightshift/contracts';
import { initTracing, withSpan, type Tracing } from '@nightshift/metrics';
import { eventually, withNats } from '@nightshift/testing';
import type { RunningService } from '../index';
import { startSpecService } from '../../spec-kit/service';

const nats = withNats();
const exporter = new InMemorySpanExporter();
let tracing: Tracing;
let service: RunningService;
let failures = 0;

@Controller()
class Handlers {
  @MessagePattern(routes.taskGet.subject)
  async get(): Promise<object> {
    await service.bus.command(routes.taskStep, {}, { team: 't', messageId: `m${failures}` });
    return {};
  }
  @EventPattern(routes.taskStep.subject)
  step(): void {
    if (failures-- > 0) throw new Error('once');
  }
}

beforeAll(async () => {
  tracing = initTracing({ service: 'orchestrator', exporter });
  service = await startSpecService(nats.url, 'orchestrator', [Handlers]);
});
afterAll(async () => {
  await service.stop();
  await tracing.shutdown();
});

const handled = () => exporter.getFinishedSpans().filter((span) => span.name === 'handle taskStep');

describe('a trace', () => {
  it('goes on through a request and the command it sends; a redelivery is linked, not a child', async () => {
    failures = 1;
    const root = await withSpan('root', {}, async (span) => {
      await service.bus.request(routes.taskGet, {}, { team: 't' });
      return span!.spanContext();
    });
    await eventually(() => handled().length === 2);
    const answer = exporter.getFinishedSpans().find((span) => span.name === 'answer taskGet')!;
    expect(answer.spanContext().traceId).toBe(root.traceId);
    expect(answer.parentSpanContext?.spanId).toBe(root.spanId);
    const [first, again] = handled();
    expect(first!.parentSpanContext?.spanId).toBe(answer.spanContext().spanId);
    expect(first!.attributes).toMatchObject({ 'messaging.nats.delivery': 1, 'error.type': 'INTERNAL' });
    expect(again!.spanContext().traceId).not.toBe(root.traceId);
    expect(again!.links.map((link) => link.context.traceId)).toEqual([root.traceId]);
  });
});
