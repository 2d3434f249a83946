import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, type RunningStack } from '@nightshift/testing';
import { makeWorkspace, startSmallStack, submit, untilEnded } from './small-task';

interface OtlpSpan {
  traceId: string;
  name: string;
  kind: number;
  attributes?: { key: string; value: { stringValue?: string } }[];
}

/** What an OTLP collector gets, as the JSON that the exporter sends. */
class Collector {
  readonly spans: OtlpSpan[] = [];
  private readonly server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
      this.spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a task whose spans are exported', () => {
  const collector = new Collector();
  let stack: RunningStack;

  beforeAll(async () => {
    const endpoint = await collector.listen();
    const rateLimit = {
      when: { requestsFrom: 20 },
      times: 1,
      action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 60 } },
    };
    stack = await startSmallStack(
      { calls: 24, tools: 'write_file,read_file', chars: 9_000, window: 32_000, faults: [rateLimit] },
      { env: { all: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } } },
    );
    const directory = makeWorkspace(stack, 'traced');
    const body = { goal: 'Be followed.', criteria: ['done'], workspace: { directory, mode: 'in_place' } };
    const { state } = await untilEnded(stack, (await submit(stack, body)).id);
    expect(state).toBe('completed');
  });
  afterAll(async () => {
    await stack?.stop();
    await collector.close();
  });

  it('is one trace from its HTTP request to the provider, through tools and compaction', async () => {
    const expected = [
      ...['POST /v1/tasks', 'answer taskCreate', 'handle taskStep', 'invoke_agent nightshift', 'answer llmComplete'],
      ...['chat simulator-small', 'handle toolRun', 'execute_tool write_file', 'execute_tool read_file', 'handle toolFinished'],
      ...['handle compactionRun', 'answer compactionClaim', 'handle compactionFinished'],
    ];
    await eventually(
      () => {
        const root = collector.spans.find(({ name }) => name === 'POST /v1/tasks');
        const names = new Set(collector.spans.filter(({ traceId }) => traceId === root?.traceId).map(({ name }) => name));
        expect(expected.filter((name) => !names.has(name))).toEqual([]);
        return true;
      },
      { timeoutMs: 30_000, everyMs: 200 },
    );
  });

  it('says names and sizes, never content', () => {
    const attributes = collector.spans.flatMap(({ attributes = [] }) => attributes);
    const content = /gen_ai\.(input|output)\.messages|system_instructions|tool\.call\.(arguments|result)/;
    expect(attributes.filter(({ key, value }) => content.test(key) || /xxxxx|Be followed/.test(value.stringValue ?? ''))).toEqual(
      [],
    );
  });

  it('is counted in the client metrics of the GenAI conventions', async () => {
    const text = await (await fetch(`${stack.operationsUrl('provider-gateway')}/metrics`)).text();
    const labels =
      'gen_ai_operation_name="chat",gen_ai_provider_name="simulator-anthropic",gen_ai_request_model="simulator-small"';
    expect(text).toContain(`gen_ai_client_operation_duration_seconds_count{${labels},error_type=""}`);
    expect(text).toContain(`gen_ai_client_token_usage_count{${labels},gen_ai_token_type="output"}`);
  });
});
