import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { startSimulator, type Simulator } from './simulator';

const parameters = { type: 'object' as const, properties: { path: { type: 'string' } } };

describe('the official clients', () => {
  let simulator: Simulator;
  let anthropic: Anthropic;
  let openai: OpenAI;

  beforeAll(async () => {
    simulator = await startSimulator({
      config: {
        models: {
          quick: { script: { name: 'quick', calls: 2, parallel: 2 }, reasoning: true },
          words: { script: { name: 'text', deltas: 60 } },
          small: { window: 500, outputMax: 200, script: 'echo' },
          busy: { faults: [{ times: 'always', action: { kind: 'rate_limit', hint: { form: 'seconds', seconds: 7 } } }] },
          broken: { faults: [{ times: 'always', action: { kind: 'error_in_200', as: 'overloaded' } }] },
          codex: { vendor: 'codex', window: 500 },
        },
      },
    });
    anthropic = new Anthropic({ apiKey: 'k', baseURL: `${simulator.url}/anthropic`, maxRetries: 0 });
    openai = new OpenAI({ apiKey: 'k', baseURL: `${simulator.url}/openai/v1`, maxRetries: 0 });
  });
  afterAll(() => simulator.stop());

  const tools = [{ name: 'list_files', input_schema: parameters }];

  it('Anthropic: streamed and whole answers are the same, reasoning signed, calls complete', async () => {
    const request = { model: 'quick', max_tokens: 2_000, tools, messages: [{ role: 'user' as const, content: 'go' }] };
    const whole = await anthropic.messages.create(request);
    const streamed = await anthropic.messages.stream(request).finalMessage();
    const plain = (message: Anthropic.Message): unknown => [
      message.content.map((block) => ({ ...block, id: undefined })),
      message.stop_reason,
    ];
    expect(plain(streamed)).toEqual(plain(whole));
    expect(whole.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use']);
    expect(whole.stop_reason).toBe('tool_use');
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  it('Anthropic: an answer goes back as it came, with its results', async () => {
    const first = { role: 'user' as const, content: 'go' };
    const answer = await anthropic.messages.create({ model: 'quick', max_tokens: 2_000, tools, messages: [first] });
    const results = answer.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'ok' }] : [],
    );
    const messages: Anthropic.MessageParam[] = [
      first,
      { role: 'assistant', content: answer.content },
      { role: 'user', content: results },
    ];
    const next = await anthropic.messages.create({ model: 'quick', max_tokens: 2_000, tools, messages });
    expect(next.content.at(-1)).toMatchObject({ type: 'tool_use', name: 'finish' });
  });

  it('Anthropic: cached input stands beside input_tokens, and the three make the total', async () => {
    const system = [{ type: 'text' as const, text: 'rule '.repeat(2_000), cache_control: { type: 'ephemeral' as const } }];
    const request = { model: 'words', max_tokens: 500, system, messages: [{ role: 'user' as const, content: 'go' }] };
    const usages = [await anthropic.messages.create(request), await anthropic.messages.create(request)].map(({ usage }) => usage);
    const [first, second] = usages;
    expect(first).toMatchObject({ cache_read_input_tokens: 0 });
    expect(first?.cache_creation_input_tokens).toBeGreaterThan(2_000);
    expect(second).toMatchObject({
      cache_read_input_tokens: first?.cache_creation_input_tokens,
      cache_creation_input_tokens: 0,
      input_tokens: first?.input_tokens,
    });
  });

  it('Anthropic: counting tokens gives what a request would report', async () => {
    const messages = [{ role: 'user' as const, content: 'how long is this?' }];
    const counted = await anthropic.messages.countTokens({ model: 'words', messages });
    const { usage } = await anthropic.messages.create({ model: 'words', max_tokens: 500, messages });
    expect(counted.input_tokens).toBe(usage.input_tokens);
  });

  it.each([
    ['small', 'prompt is too long', Anthropic.BadRequestError],
    ['busy', 'rate limit', Anthropic.RateLimitError],
    ['none', 'model: none', Anthropic.NotFoundError],
  ])('Anthropic: errors of %s have the class of the client', async (model, text, type) => {
    const failed: unknown = await anthropic.messages
      .create({ model, max_tokens: 100, messages: [{ role: 'user', content: 'x '.repeat(600) }] })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(type);
    expect((failed as Error).message).toContain(text);
  });

  it('Anthropic: an overload inside a stream is thrown', async () => {
    const stream = anthropic.messages.stream({ model: 'broken', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] });
    await expect(stream.finalMessage()).rejects.toThrow(/overloaded_error/);
  });

  it('OpenAI chat: streamed and whole answers are the same, usage last', async () => {
    const request = {
      model: 'quick',
      messages: [{ role: 'user' as const, content: 'go' }],
      tools: [{ type: 'function' as const, function: { name: 'list_files', parameters } }],
    };
    const whole = await openai.chat.completions.create(request);
    const stream = openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
    const streamed = await stream.finalChatCompletion();
    const calls = (completion: OpenAI.ChatCompletion): unknown =>
      completion.choices[0]?.message.tool_calls?.map((call) =>
        call.type === 'function' ? [call.function.name, call.function.arguments] : [],
      );
    expect(calls(streamed)).toEqual(calls(whole));
    expect(whole.choices[0]?.finish_reason).toBe('tool_calls');
    expect(await stream.totalUsage()).toEqual(expect.objectContaining({ total_tokens: whole.usage?.total_tokens }));
  });

  it('OpenAI chat: sixty words come in sixty deltas', async () => {
    const stream = await openai.chat.completions.create({
      model: 'words',
      stream: true,
      messages: [{ role: 'user', content: 'go' }],
    });
    const deltas: string[] = [];
    for await (const chunk of stream) deltas.push(chunk.choices[0]?.delta.content ?? '');
    expect(deltas.filter((delta) => delta !== '')).toHaveLength(60);
  });

  it('OpenAI chat: the requested output counts against the window', async () => {
    const ask = (max: number): Promise<unknown> =>
      openai.chat.completions
        .create({ model: 'small', max_tokens: max, messages: [{ role: 'user', content: 'x '.repeat(400) }] })
        .then(
          () => 'ok',
          (error: unknown) => [
            (error as InstanceType<typeof OpenAI.APIError>).status,
            (error as InstanceType<typeof OpenAI.APIError>).code,
          ],
        );
    expect([await ask(50), await ask(150), await ask(201)]).toEqual([
      'ok',
      [400, 'context_length_exceeded'],
      [400, 'invalid_value'],
    ]);
  });

  it('Responses: streamed and whole answers are the same', async () => {
    const request = {
      model: 'quick',
      input: 'go',
      tools: [{ type: 'function' as const, name: 'list_files', parameters, strict: false }],
    };
    const whole = await openai.responses.create(request);
    const streamed = await openai.responses.stream(request).finalResponse();
    const plain = (response: OpenAI.Responses.Response): unknown =>
      response.output.map((item) => (item.type === 'function_call' ? [item.name, item.arguments] : item.type));
    expect(plain(streamed)).toEqual(plain(whole));
    expect(whole.status).toBe('completed');
    expect(streamed.usage?.total_tokens).toBe(whole.usage?.total_tokens);
  });

  it('Codex: an overflow is told inside the stream, after status 200', async () => {
    const codex = new OpenAI({ apiKey: 'k', baseURL: `${simulator.url}/codex`, maxRetries: 0 });
    const events: string[] = [];
    const stream = await codex.responses.create({ model: 'codex', stream: true, input: 'x '.repeat(800) });
    for await (const event of stream)
      events.push(event.type === 'response.failed' ? `${event.type} ${event.response.error?.code}` : event.type);
    expect(events).toEqual(['response.created', 'response.in_progress', 'response.failed context_length_exceeded']);
  });
});
