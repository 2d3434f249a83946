import { serverModel } from '../../config/server-spec';
import type { JsonObject } from '../../json';
import { Refusal } from '../../vendors/problem';
import type { VendorName } from '../../vendors/vendor-names';
import { vendors } from '../../vendors/vendors';
import { readOpenAiChat } from './read';

const spec = serverModel.parse({});
const user: JsonObject = { role: 'user', content: 'go' };
const calls = (...ids: string[]): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'run', arguments: '{}' } })),
});
const result = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: 'ok' });

function refusal(messages: unknown, vendor: VendorName = 'openai', more: JsonObject = {}): unknown {
  try {
    readOpenAiChat({ model: 'm', messages, ...more }, spec, vendors[vendor]);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && error.problem.kind === 'invalid') {
      const { message, param, code } = error.problem;
      return [message, param, code];
    }
    if (error instanceof Refusal) return error.problem.kind;
    throw error;
  }
}

describe('a chat history', () => {
  it.each<[string, JsonObject[]]>([
    ['a call and its result', [user, calls('a'), result('a')]],
    ['a parallel batch in any order', [user, calls('a', 'b'), result('b'), result('a'), user]],
    ['an id used again later', [user, calls('a'), result('a'), calls('a'), result('a')]],
    ['an assistant message at the end', [user, { role: 'assistant', content: 'x' }]],
  ])('is accepted: %s', (_title, messages) => {
    expect(refusal(messages)).toBeUndefined();
  });

  it.each<[string, unknown, string, string | undefined, string | undefined]>([
    ['no message', [], "Invalid 'messages': empty array.", 'messages', 'empty_array'],
    [
      'a call without result',
      [user, calls('a', 'b'), result('a'), user],
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b",
      'messages.[2].role',
      undefined,
    ],
    [
      'a call at the end',
      [user, calls('a')],
      'The following tool_call_ids did not have response messages: a',
      'messages.[1].role',
      undefined,
    ],
    [
      'a result without call',
      [user, result('a')],
      "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
      'messages.[1].role',
      undefined,
    ],
    [
      'a result after another message',
      [user, calls('a'), user, result('a')],
      'did not have response messages: a',
      'messages.[2].role',
      undefined,
    ],
    [
      'two results of one call',
      [user, calls('a'), result('a'), result('a')],
      "Duplicate value for 'tool_call_id' of 'a'",
      'messages.[3].tool_call_id',
      undefined,
    ],
    [
      'no content and no call',
      [user, { role: 'assistant', content: null }],
      "Invalid value for 'content': expected a string, got null.",
      'messages[1].content',
      undefined,
    ],
    [
      'an empty list of calls',
      [user, { role: 'assistant', content: 'x', tool_calls: [] }],
      "Invalid 'messages[1].tool_calls': empty array.",
      'messages[1].tool_calls',
      'empty_array',
    ],
    [
      'arguments as an object',
      [
        user,
        { ...calls('a'), tool_calls: [{ id: 'a', type: 'function', function: { name: 'run', arguments: {} } }] },
        result('a'),
      ],
      "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
      'messages[1].tool_calls[0].function.arguments',
      'invalid_type',
    ],
    [
      'an id of 41 characters',
      [user, calls('a'.repeat(41)), result('a'.repeat(41))],
      "Invalid 'messages[1].tool_calls[0].id': string too long.",
      'messages[1].tool_calls[0].id',
      'string_above_max_length',
    ],
    [
      'an image in a result',
      [user, calls('a'), { ...result('a'), content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
      "Invalid value: 'image_url'. Supported values are: 'text' and 'refusal'.",
      'messages[2].content[0].type',
      'invalid_value',
    ],
  ])('is refused: %s', (_title, messages, message, param, code) => {
    expect(refusal(messages)).toEqual([expect.stringContaining(message), param, code]);
  });

  it.each<[VendorName, JsonObject[], string]>([
    [
      'mistral',
      [user, calls('call_1'), result('call_1')],
      'Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.',
    ],
    ['mistral', [user, calls('abcdefgh1'), result('abcdefgh1'), user], "Unexpected role 'user' after role 'tool'"],
    ['mistral', [user, { role: 'assistant', content: 'x' }], 'Expected last role User or Tool'],
    ['mistral', [user, calls('abcdefgh1')], 'Not the same number of function calls and responses'],
    [
      'gemini-compat',
      [user, calls('a', 'b'), result('a')],
      'number of function response parts is equal to the number of function call parts',
    ],
    ['deepseek', [user, calls('a')], 'insufficient tool messages following tool_calls message'],
  ])('is refused by %s in its own words: case %#', (vendor, messages, message) => {
    expect(refusal(messages, vendor)).toEqual(expect.arrayContaining([expect.stringContaining(message)]));
  });

  it('a local engine takes what others refuse', () => {
    expect(refusal([user, calls('a'), user], 'llamacpp')).toBeUndefined();
  });
});
