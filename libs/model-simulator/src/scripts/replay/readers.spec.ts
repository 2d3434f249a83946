import { foldRecording } from './recording';
import { readRecording } from './readers';

const lines = (...objects: unknown[]): string => objects.map((object) => JSON.stringify(object)).join('\n');
const expected = [{ text: 'look', calls: [{ name: 'run', arguments: { x: 1 }, result: 'out' }] }];

describe('a recorded session', () => {
  it.each<[string, string]>([
    [
      'Claude Code, one block a line',
      lines(
        { type: 'progress' },
        { type: 'user', message: { content: 'go' } },
        { type: 'assistant', message: { id: 'm1', content: [{ type: 'text', text: 'look' }] } },
        { type: 'assistant', message: { id: 'm1', content: [{ type: 'tool_use', id: 'a', name: 'run', input: { x: 1 } }] } },
        {
          type: 'user',
          message: { content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'out' }] }] },
        },
      ),
    ],
    [
      'Codex',
      lines(
        { type: 'session_meta', payload: {} },
        { type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] } },
        {
          type: 'response_item',
          payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'look' }] },
        },
        { type: 'response_item', payload: { type: 'function_call', call_id: 'a', name: 'run', arguments: '{"x":1}' } },
        { type: 'response_item', payload: { type: 'function_call_output', call_id: 'a', output: 'out' } },
      ),
    ],
    [
      'pi',
      lines(
        { type: 'session' },
        {
          type: 'message',
          message: {
            role: 'assistant',
            content: [
              { type: 'text', text: 'look' },
              { type: 'toolCall', id: 'a', name: 'run', arguments: { x: 1 } },
            ],
          },
        },
        { type: 'message', message: { role: 'toolResult', toolCallId: 'a', content: [{ type: 'text', text: 'out' }] } },
      ),
    ],
    [
      'OpenAI messages',
      JSON.stringify({
        traj: [
          { role: 'user', content: 'go' },
          { role: 'assistant', content: 'look', tool_calls: [{ id: 'a', function: { name: 'run', arguments: '{"x":1}' } }] },
          { role: 'tool', tool_call_id: 'a', content: 'out' },
        ],
      }),
    ],
    [
      'SWE-agent, results named in a list',
      JSON.stringify({
        history: [
          { role: 'assistant', content: 'look', tool_calls: [{ id: 'a', function: { name: 'run', arguments: '{"x":1}' } }] },
          { role: 'tool', tool_call_ids: ['a'], content: [{ type: 'text', text: 'out' }] },
        ],
      }),
    ],
    [
      'LangGraph',
      JSON.stringify({
        values: {
          messages: [
            { type: 'human', content: 'go' },
            { type: 'ai', content: 'look', tool_calls: [{ id: 'a', name: 'run', args: { x: 1 } }] },
            { type: 'tool', tool_call_id: 'a', content: 'out' },
          ],
        },
      }),
    ],
    [
      'Gemini CLI, results inside the call',
      JSON.stringify({
        messages: [
          { type: 'user', content: 'go' },
          {
            type: 'gemini',
            content: 'look',
            toolCalls: [
              { id: 'a', name: 'run', args: { x: 1 }, result: [{ functionResponse: { response: { output: 'out' } } }] },
            ],
          },
        ],
      }),
    ],
    [
      'ATIF, results paired by step',
      JSON.stringify({
        steps: [
          { source: 'user', message: 'go' },
          {
            source: 'agent',
            message: 'look',
            tool_calls: [{ tool_call_id: 'a', function_name: 'run', arguments: { x: 1 } }],
            observation: { results: [{ content: 'out' }] },
          },
        ],
      }),
    ],
  ])('is read from %s', (_title, text) => {
    expect(foldRecording(readRecording(text))).toEqual(expected);
  });

  it('a call id used twice: each result belongs to the nearest call without one', () => {
    const call = { kind: 'assistant' as const, key: '', text: '', calls: [{ id: 'a', name: 'run', arguments: {} }] };
    const answers = foldRecording([
      call,
      { kind: 'result', id: 'a', text: 'one' },
      call,
      { kind: 'result', id: 'a', text: 'two' },
    ]);
    expect(answers.map((answer) => answer.calls[0]?.result)).toEqual(['one', 'two']);
  });

  it('anything else is refused', () => {
    expect(() => readRecording('{"hello":1}')).toThrow('not a recorded session');
  });
});
