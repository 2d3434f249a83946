import { serverModel } from '../../config/server-spec';
import type { JsonObject } from '../../json';
import { Refusal } from '../../vendors/problem';
import type { VendorName } from '../../vendors/vendor-names';
import { vendors } from '../../vendors/vendors';
import { encryptReasoning } from './items';
import { readOpenAiResponses } from './read';

const spec = serverModel.parse({});
const user: JsonObject = { role: 'user', content: [{ type: 'input_text', text: 'go' }] };
const call = (id: string, itemId?: string): JsonObject => ({
  type: 'function_call',
  call_id: id,
  name: 'run',
  arguments: '{}',
  ...(itemId === undefined ? {} : { id: itemId }),
});
const output = (id: string): JsonObject => ({ type: 'function_call_output', call_id: id, output: 'ok' });
const reasoning = (encrypted: unknown): JsonObject => ({
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  encrypted_content: encrypted,
});

function read(input: unknown, more: JsonObject = {}, vendor: VendorName = 'openai'): unknown {
  try {
    return readOpenAiResponses({ model: 'm', input, ...more }, spec, vendors[vendor]).conversation.turns;
  } catch (error) {
    if (error instanceof Refusal && error.problem.kind === 'invalid') return error.problem.message;
    throw error;
  }
}

describe('the input of Responses', () => {
  it('is read as turns: calls of one answer together, outputs of one batch together', () => {
    expect(
      read([
        user,
        call('a'),
        call('b'),
        output('b'),
        output('a'),
        { role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
      ]),
    ).toEqual([
      { role: 'user', texts: ['go'] },
      {
        role: 'assistant',
        text: '',
        calls: [
          { id: 'a', name: 'run', arguments: {} },
          { id: 'b', name: 'run', arguments: {} },
        ],
      },
      {
        role: 'results',
        results: [
          { callId: 'b', text: 'ok', isError: false },
          { callId: 'a', text: 'ok', isError: false },
        ],
      },
      { role: 'assistant', text: 'done', calls: [] },
    ]);
  });

  it.each<[string, unknown, JsonObject, string]>([
    ['an empty list', [], {}, "Invalid 'input': empty array."],
    ['a call without output', [user, call('a')], {}, 'No tool output found for function call a.'],
    ['an output without call', [user, output('a')], {}, 'No tool call found for function call output with call_id a.'],
    [
      'an output before its call',
      [user, output('a'), call('a')],
      {},
      'No tool call found for function call output with call_id a.',
    ],
    ['two outputs of one call', [user, call('a'), output('a'), output('a')], {}, 'Duplicate tool output found for call_id a.'],
    [
      'one item id twice',
      [user, call('a', 'fc_1'), output('a'), call('b', 'fc_1'), output('b')],
      {},
      'Duplicate item found with id fc_1.',
    ],
    [
      'reasoning that leads to nothing',
      [user, reasoning(encryptReasoning('hm')), user],
      {},
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
    [
      'altered reasoning',
      [user, reasoning(`${encryptReasoning('hm')}x`), call('a'), output('a')],
      {},
      'The encrypted content for item rs_1 could not be verified.',
    ],
    [
      'reasoning that was never stored',
      [user, reasoning(undefined), call('a'), output('a')],
      { store: false },
      "Item with id 'rs_1' not found.",
    ],
    [
      'text of the wrong side',
      [{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }],
      {},
      "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'.",
    ],
    [
      'a tool of the chat format',
      [user],
      { tools: [{ type: 'function', function: { name: 'run' } }] },
      "Missing required parameter: 'tools[0].name'.",
    ],
    ['an output limit below 16', [user], { max_output_tokens: 15 }, "Invalid 'max_output_tokens': integer below minimum value."],
    ['an earlier response', [user], { previous_response_id: 'resp_1' }, "Previous response with id 'resp_1' not found."],
  ])('is refused: %s', (_title, input, more, message) => {
    expect(read(input, more)).toEqual(expect.stringContaining(message));
  });

  it('the Codex backend knows no output limit', () => {
    expect(read([user], { max_output_tokens: 100 }, 'codex')).toBe('Unsupported parameter: max_output_tokens');
  });
});
