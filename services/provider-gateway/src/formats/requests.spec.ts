import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { formats } from '.';
import type { BuildOptions, FormatName } from './format';

type MessageInit = MessageInitShape<typeof transcript.ViewMessageSchema>;
const user = (text: string): MessageInit => ({
  body: { case: 'user', value: { parts: [{ kind: { case: 'text', value: text } }] } },
});
const signed = {
  kind: { case: 'reasoning', value: { text: 'hm', signature: 'c2lnbmVk+/=', provider: 'it', model: 'model' } },
} as const;
const call = (id: string, providerId: string): MessageInitShape<typeof transcript.BlockSchema> => ({
  kind: { case: 'toolCall', value: { id, providerId, name: 'read_file', argumentsJson: '{"path":"a"}' } },
});
const assistant = (provider: string, ...blocks: MessageInitShape<typeof transcript.BlockSchema>[]): MessageInit => ({
  body: { case: 'assistant', value: { provider, model: 'model', blocks } },
});
const results = (...ids: string[]): MessageInit => ({
  body: {
    case: 'toolResults',
    value: {
      results: ids.map((callId) => ({
        callId,
        tool: 'read_file',
        parts: [{ kind: { case: 'text', value: `result of ${callId}` } }],
      })),
    },
  },
});

function build(
  format: FormatName,
  messages: MessageInit[],
  over: Partial<BuildOptions> = {},
): { body: Record<string, unknown>; translations: string[] } {
  const view = create(transcript.ViewSchema, {
    system: 'rules',
    messages,
    tools: [{ name: 'read_file', description: 'reads', inputSchemaJson: '{"type":"object"}' }],
  });
  const options: BuildOptions = {
    model: 'model',
    provider: 'it',
    maxOutputTokens: 1_000,
    temperature: undefined,
    toolChoice: 'auto',
    stream: true,
    numCtx: 0,
    dropReasoning: false,
    quirks: {},
    ...over,
  };
  return formats[format].build(view, options);
}

describe('Anthropic Messages', () => {
  it('keeps a signed block byte for byte and results with their calls', () => {
    const { body, translations } = build('anthropic-messages', [
      user('go'),
      assistant('it', signed, call('id-1', 'toolu_1'), call('id-2', 'toolu_2')),
      results('id-1', 'id-2'),
      user('and?'),
    ]);
    expect(body).toEqual({
      model: 'model',
      max_tokens: 1_000,
      stream: true,
      system: [{ type: 'text', text: 'rules' }],
      tools: [{ name: 'read_file', description: 'reads', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2lnbmVk+/=' },
            { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a' } },
            { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: { path: 'a' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'result of id-1' }] },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: [{ type: 'text', text: 'result of id-2' }] },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
    });
    expect(translations).toEqual([]);
  });

  it.each([
    ['another provider', 'elsewhere', 'model'],
    ['another model of the same provider', 'it', 'bigger'],
  ])('drops a block signed by %s whole and says so', (_title, provider, model) => {
    const foreign = { kind: { case: 'reasoning', value: { ...signed.kind.value, provider, model } } } as const;
    const { body, translations } = build('anthropic-messages', [
      user('go'),
      assistant(provider, foreign, { kind: { case: 'text', value: 'x' } }),
    ]);
    expect(JSON.stringify(body)).not.toContain('signature');
    expect(translations).toEqual([`dropped a reasoning block signed by ${provider}/${model}`]);
  });

  it('gives our ids to calls whose provider id is foreign, malformed or used twice', () => {
    const { body } = build('anthropic-messages', [
      user('go'),
      assistant('elsewhere', call('id-1', 'call_1')),
      results('id-1'),
      assistant('it', call('id-2', 'has spaces')),
      results('id-2'),
      assistant('it', call('id-3', 'call_0')),
      results('id-3'),
      assistant('it', call('id-4', 'call_0')),
      results('id-4'),
    ]);
    expect(JSON.stringify(body).match(/"tool_use_id":"[^"]+"/g)).toEqual(
      ['id-1', 'id-2', 'call_0', 'id-4'].map((id) => `"tool_use_id":"${id}"`),
    );
  });

  it('marks system prompt and newest message for the prompt cache', () => {
    const { body } = build('anthropic-messages', [user('go')], { quirks: { promptCache: true } });
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(2);
  });
});

describe('OpenAI chat completions', () => {
  it('writes results as tool messages', () => {
    const { body, translations } = build('openai-chat', [
      user('go'),
      assistant('it', signed, { kind: { case: 'text', value: 'Looking.' } }, call('id-1', 'call_1')),
      results('id-1'),
    ]);
    expect(body).toEqual({
      model: 'model',
      max_tokens: 1_000,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'read_file', description: 'reads', parameters: { type: 'object' } } }],
      messages: [
        { role: 'system', content: 'rules' },
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'result of id-1' },
      ],
    });
    expect(translations).toEqual([]);
  });

  it('makes nine-letter ids for Mistral that are the same every time', () => {
    const ids = [1, 2].map(
      () =>
        /"tool_call_id":"([^"]+)"/.exec(
          JSON.stringify(
            build('openai-chat', [user('go'), assistant('x', call('id-1', 'call_1')), results('id-1')], {
              quirks: { toolCallId: 'nine-alphanumeric' },
            }).body,
          ),
        )?.[1],
    );
    expect(ids[0]).toMatch(/^[a-z0-9]{9}$/);
    expect(ids[0]).toBe(ids[1]);
  });
});

describe('OpenAI Responses', () => {
  it('sends every item, the encrypted reasoning as it came', () => {
    const opaque = {
      kind: {
        case: 'reasoning',
        value: { opaqueJson: '{"type":"reasoning","id":"rs_1","encrypted_content":"abc=="}', provider: 'it', model: 'model' },
      },
    } as const;
    const { body } = build('openai-responses', [user('go'), assistant('it', opaque, call('id-1', 'call_1')), results('id-1')], {
      quirks: { stateless: true },
    });
    expect(body).toMatchObject({
      instructions: 'rules',
      store: false,
      max_output_tokens: 1_000,
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'abc==' },
        { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'result of id-1' },
      ],
    });
  });

  // B52: a chain on the provider's side may lack an item that the view has; what is sent must stand by itself.
  it.each([
    ['kept by the provider', {}],
    ['not kept', { stateless: true }],
  ])('never refers to an earlier response, %s', (_title, quirks) => {
    const first = [user('go'), assistant('it', signed, call('id-1', 'call_1')), results('id-1')];
    for (const messages of [[user('go')], first, [...first, assistant('it', call('id-2', 'call_2')), results('id-2')]]) {
      const { body } = build('openai-responses', messages, { quirks });
      expect(body).not.toHaveProperty('previous_response_id');
      expect(body).not.toHaveProperty('conversation');
    }
  });
});

describe('Ollama', () => {
  it('asks for its window and for an error instead of a silent cut', () => {
    const { body } = build('ollama-chat', [user('go')], { numCtx: 16_384 });
    expect(body).toMatchObject({ options: { num_ctx: 16_384, num_predict: 1_000 }, truncate: false, shift: false });
    expect(build('ollama-chat', [user('go')]).body.options).toEqual({ num_predict: 1_000 });
  });
});

it.each(Object.keys(formats) as FormatName[])('%s: a longer transcript keeps its beginning', (name) => {
  const history = [user('go'), assistant('x', call('id-1', 'call_1')), results('id-1')];
  const listOf = (messages: MessageInit[]): unknown[] => {
    const { body } = build(name, messages);
    return (body.messages ?? body.input) as unknown[];
  };
  const short = listOf(history);
  expect(listOf([...history, assistant('x', call('id-2', 'call_1')), results('id-2')]).slice(0, short.length)).toEqual(short);
});
