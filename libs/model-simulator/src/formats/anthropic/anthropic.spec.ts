import { signReasoning } from '../../answer';
import { serverModel } from '../../config/server-spec';
import type { JsonObject } from '../../json';
import { Refusal } from '../../vendors/problem';
import { readAnthropic } from './read';

const spec = serverModel.parse({});
const tools = [{ name: 'run', input_schema: { type: 'object' } }];
const user = (...content: unknown[]): JsonObject => ({ role: 'user', content: content.length === 0 ? 'go' : content });
const assistant = (...content: unknown[]): JsonObject => ({ role: 'assistant', content });
const text = (words: string): JsonObject => ({ type: 'text', text: words });
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'run', input: {} });
const result = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
});
const thinking = (words: string, signature = signReasoning(words)): JsonObject => ({
  type: 'thinking',
  thinking: words,
  signature,
});

function refusal(body: JsonObject, model = spec): string | undefined {
  try {
    readAnthropic({ model: 'm', max_tokens: 2000, tools, ...body }, model);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.problem.kind === 'invalid' ? error.problem.message : error.problem.kind;
    throw error;
  }
}

describe('an Anthropic history', () => {
  it.each<[string, JsonObject[]]>([
    ['a plain exchange', [user(), assistant(text('hi')), user()]],
    ['a call and its result', [user(), assistant(text('hi'), use('a')), user(result('a'))]],
    [
      'a parallel batch, results in any order, text after them',
      [user(), assistant(use('a'), use('b')), user(result('b'), result('a'), text('go on'))],
    ],
    ['two user messages in a row', [user(), user(), assistant(text('hi')), user()]],
    ['a signed reasoning block as it was written', [user(), assistant(thinking('hm'), use('a')), user(result('a'))]],
    [
      'an image in a result',
      [
        user(),
        assistant(use('a')),
        user(result('a', { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }] })),
      ],
    ],
  ])('is accepted: %s', (_title, messages) => {
    expect(refusal({ messages })).toBeUndefined();
  });

  it.each<[string, JsonObject[], string]>([
    ['no message at all', [], 'messages: at least one message is required'],
    ['an assistant first', [assistant(text('hi')), user()], 'messages: first message must use the "user" role'],
    ['a system role inside', [{ role: 'system', content: 'x' }], 'messages: Unexpected role "system"'],
    ['an empty text', [user(text(''))], 'messages: text content blocks must be non-empty'],
    ['a blank text', [user(text(' \n'))], 'messages: text content blocks must contain non-whitespace text'],
    [
      'no content in the middle',
      [user(), { role: 'assistant', content: [] }, user()],
      'messages.1: all messages must have non-empty content',
    ],
    [
      'a call without result at the end',
      [user(), assistant(use('a'))],
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.',
    ],
    [
      'a call whose result is missing',
      [user(), assistant(use('a'), use('b')), user(result('a'))],
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.',
    ],
    [
      'the results of a batch in two messages',
      [user(), assistant(use('a'), use('b')), user(result('a')), user(result('b'))],
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.',
    ],
    [
      'text before the results',
      [user(), assistant(use('a')), user(text('so'), result('a'))],
      'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.',
    ],
    [
      'a result without call',
      [user(result('x'))],
      'messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: x.',
    ],
    [
      'a result one turn too late',
      [user(), assistant(use('a')), user(result('a')), assistant(text('x')), user(result('a'))],
      'messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.',
    ],
    [
      'two results of one call',
      [user(), assistant(use('a')), user(result('a'), result('a'))],
      'messages.2.content.1: each tool_use must have a single result.',
    ],
    [
      'one id for two calls',
      [user(), assistant(use('a')), user(result('a')), assistant(use('a')), user(result('a'))],
      'messages.3.content.0: `tool_use` ids must be unique',
    ],
    [
      'an error result without text',
      [user(), assistant(use('a')), user(result('a', { content: '', is_error: true }))],
      'messages.2.content.0.tool_result: content cannot be empty if `is_error` is true',
    ],
    [
      'arguments as a string',
      [user(), assistant({ ...use('a'), input: '{}' }), user(result('a'))],
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
    [
      'an id with a colon',
      [user(), assistant(use('a:1')), user(result('a:1'))],
      'messages.1.content.0.tool_use.id: String should match pattern',
    ],
    [
      'an unsigned reasoning block',
      [user(), assistant({ type: 'thinking', thinking: 'hm' }, text('x')), user()],
      'messages.1.content.0.thinking.signature: Field required',
    ],
    [
      'an altered reasoning block',
      [user(), assistant(thinking('hm!', signReasoning('hm')), text('x')), user()],
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'a reasoning block at the end',
      [user(), assistant(text('x'), thinking('hm')), user()],
      'messages.1: The final block in an assistant message cannot be `thinking`.',
    ],
  ])('is refused: %s', (_title, messages, message) => {
    expect(refusal({ messages })).toEqual(expect.stringContaining(message));
  });

  it.each<[string, JsonObject, string]>([
    ['without max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['with an unknown field', { max_output: 3 }, 'max_output: Extra inputs are not permitted'],
    [
      'with tool blocks and no tools',
      { tools: undefined, messages: [user(), assistant(use('a')), user(result('a'))] },
      'Requests which include `tool_use` or `tool_result` blocks must define tools',
    ],
    [
      'with five cache marks',
      { messages: [user(...Array.from({ length: 5 }, () => ({ ...text('x'), cache_control: { type: 'ephemeral' } })))] },
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [
      'with a thinking budget above the output',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      '`max_tokens` must be greater than `thinking.budget_tokens`.',
    ],
    [
      'with an open tool turn that lost its reasoning',
      { thinking: { type: 'enabled', budget_tokens: 1024 }, messages: [user(), assistant(use('a')), user(result('a'))] },
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    ],
    ['with an assistant message at the end', { messages: [user(), assistant(text('{'))] }, 'prefill_refused'],
  ])('a request is refused: %s', (_title, body, message) => {
    expect(refusal({ messages: [user()], ...body })).toEqual(expect.stringContaining(message));
  });

  it('a prefill is taken where the model allows it, without blanks at its end', () => {
    const allowing = serverModel.parse({ prefill: true });
    expect(refusal({ messages: [user(), assistant(text('{'))] }, allowing)).toBeUndefined();
    expect(refusal({ messages: [user(), assistant(text('{ '))] }, allowing)).toMatch(/trailing whitespace/);
  });
});
