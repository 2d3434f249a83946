import { create } from '@bufbuild/protobuf';
import { transcript } from '@nightshift/contracts';
import { importSession } from './import-session';
import { SessionFault } from './session';

const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n');

/** What a session holds, short enough to compare whole. */
function outline(text: string): string[] {
  return importSession('session', text).entries.map(({ body }) => {
    switch (body.case) {
      case 'user':
        return `user ${body.value.parts.map(({ kind }) => (kind.case === 'text' ? kind.value : kind.case)).join('|')}`;
      case 'assistant':
        return `assistant ${body.value.blocks.map(({ kind }) => (kind.case === 'text' ? kind.value : kind.case === 'toolCall' ? `${kind.value.name}(${kind.value.argumentsJson})` : kind.case)).join('|')}`;
      case 'toolResult':
        return `result ${body.value.callId}${body.value.isError ? '!' : ''} ${body.value.parts.map(({ kind }) => (kind.case === 'text' ? kind.value : kind.case)).join('|')}`;
      case 'note':
        return `note ${body.value.kind} ${body.value.text}`;
      default:
        return 'empty';
    }
  });
}

describe('importSession', () => {
  it('merges the lines of one Claude Code answer and puts results behind it', () => {
    const text = lines(
      { type: 'user', sessionId: 's', message: { role: 'user', content: 'do it' } },
      {
        type: 'assistant',
        sessionId: 's',
        message: { id: 'm1', content: [{ type: 'thinking', thinking: 'hm', signature: 'sig' }] },
      },
      {
        type: 'assistant',
        sessionId: 's',
        message: { id: 'm1', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: { p: 1 } }] },
      },
      { type: 'progress', sessionId: 's', data: {} },
      {
        type: 'user',
        sessionId: 's',
        message: { content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'A' }] }] },
      },
      {
        type: 'assistant',
        sessionId: 's',
        message: { id: 'm1', content: [{ type: 'tool_use', id: 'b', name: 'Read', input: { p: 2 } }] },
      },
      {
        type: 'user',
        sessionId: 's',
        message: { content: [{ type: 'tool_result', tool_use_id: 'b', content: 'B', is_error: true }] },
      },
      { type: 'system', subtype: 'compact_boundary', sessionId: 's' },
      { type: 'user', sessionId: 's', isCompactSummary: true, message: { content: 'so far' } },
    );
    expect(outline(text)).toEqual([
      'user do it',
      'assistant reasoning|Read({"p":1})|Read({"p":2})',
      'result call-1 A',
      'result call-2! B',
      'note foreign_summary so far',
    ]);
  });

  it('takes response items of Codex only, keeps encrypted reasoning whole and reads the exit code', () => {
    const text = lines(
      { type: 'session_meta', payload: { base_instructions: { text: 'be good' } } },
      { type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] } },
      { type: 'event_msg', payload: { type: 'user_message', message: 'go' } },
      { type: 'response_item', payload: { type: 'reasoning', encrypted_content: 'xyz' } },
      { type: 'response_item', payload: { type: 'function_call', name: 'exec', call_id: 'c', arguments: '{"cmd":"ls"}' } },
      {
        type: 'response_item',
        payload: { type: 'custom_tool_call', name: 'apply_patch', call_id: 'd', input: '*** Begin Patch' },
      },
      {
        type: 'response_item',
        payload: { type: 'function_call_output', call_id: 'c', output: 'Process exited with code 2\nOutput:\nno' },
      },
      { type: 'response_item', payload: { type: 'custom_tool_call_output', call_id: 'd', output: 'done' } },
    );
    expect(outline(text)).toEqual([
      'user go',
      'assistant reasoning|exec({"cmd":"ls"})|apply_patch({"input":"*** Begin Patch"})',
      'result call-1! Process exited with code 2\nOutput:\nno',
      'result call-2 done',
    ]);
    expect(importSession('f', text).system).toBe('be good');
    const [, turn] = importSession('f', text).entries;
    expect(turn?.body.case === 'assistant' && turn.body.value.blocks[0]?.kind.value).toEqual(
      create(transcript.ReasoningSchema, { opaqueJson: '{"type":"reasoning","encrypted_content":"xyz"}', provider: 'openai' }),
    );
  });

  it('pairs a call id that is used twice with the nearest earlier unanswered call', () => {
    const call = (id: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
    });
    const text = JSON.stringify([
      { role: 'user', content: 'x' },
      call('a'),
      { role: 'tool', tool_call_id: 'a', content: '1' },
      call('a'),
      { role: 'tool', tool_call_id: 'a', content: 'Error: 2' },
    ]);
    expect(outline(text)).toEqual(['user x', 'assistant f({})', 'result call-1 1', 'assistant f({})', 'result call-2! Error: 2']);
  });

  it('splits the merged rounds of a Gemini CLI record by their times', () => {
    const call = (id: string, timestamp: string) => ({
      id,
      name: 'read',
      args: {},
      status: 'success',
      timestamp,
      result: [{ functionResponse: { id, name: 'read', response: { output: id } } }],
    });
    const text = JSON.stringify({
      sessionId: 's',
      projectHash: 'h',
      messages: [
        { type: 'user', content: 'x' },
        { type: 'gemini', content: 'look', toolCalls: [call('a', 't1'), call('b', 't1'), call('c', 't2')] },
      ],
    });
    expect(outline(text)).toEqual([
      'user x',
      'assistant look|read({})|read({})',
      'result call-1 a',
      'result call-2 b',
      'assistant read({})',
      'result call-3 c',
    ]);
  });

  it('pairs the text actions of SWE-agent with the message behind them', () => {
    const text = JSON.stringify({
      trajectory: [],
      history: [
        { role: 'system', content: 'sys' },
        { role: 'user', content: 'issue' },
        { role: 'assistant', content: 'look', thought: 'look', action: 'ls' },
        { role: 'user', content: 'files' },
        { role: 'user', content: 'more' },
      ],
    });
    expect(outline(text)).toEqual([
      'user issue',
      'assistant look|run_action({"action":"ls"})',
      'result call-1 files',
      'user more',
    ]);
  });

  it('reads LangGraph, ATIF and pi', () => {
    const langgraph = {
      values: {
        messages: [
          { type: 'human', content: [{ type: 'text', text: 'x' }] },
          {
            type: 'ai',
            content: '',
            tool_calls: [{ id: 'a', name: 'f', args: {} }],
            additional_kwargs: { reasoning_content: 'r' },
          },
          { type: 'tool', tool_call_id: 'a', content: 'y' },
        ],
      },
    };
    expect(outline(JSON.stringify(langgraph))).toEqual(['user x', 'assistant reasoning|f({})', 'result call-1 y']);
    const atif = {
      schema_version: 'ATIF-v1.7',
      agent: {},
      steps: [
        { source: 'user', message: 'x' },
        {
          source: 'agent',
          message: 'm',
          tool_calls: [{ tool_call_id: 'a', function_name: 'f', arguments: {} }],
          observation: { results: [{ content: 'y' }] },
        },
      ],
    };
    expect(outline(JSON.stringify(atif))).toEqual(['user x', 'assistant m|f({})', 'result call-1 y']);
    const pi = lines(
      { type: 'session', id: 's' },
      { type: 'message', message: { role: 'user', content: 'x' } },
      { type: 'message', message: { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'f', arguments: {} }] } },
      { type: 'message', message: { role: 'bashExecution', command: 'ls', output: 'z', exitCode: 1 } },
      { type: 'message', message: { role: 'toolResult', toolCallId: 'a', content: [{ type: 'text', text: 'y' }] } },
    );
    expect(outline(pi)).toEqual(['user x', 'assistant f({})', 'result call-1 y', 'user $ ls\nz\n(exit code 1)']);
  });

  it('tolerates a last line that is cut off, with a warning', () => {
    const text = `${lines({ type: 'session', id: 's' }, { type: 'message', message: { role: 'user', content: 'x' } })}\n{"type":"mess`;
    expect(importSession('a.jsonl', text).warnings).toEqual(['a.jsonl:3: the last line is cut off and was left out']);
  });

  it.each([
    ['', 'a:1: expected a session, found an empty file'],
    ['hello', 'a:1: expected JSON'],
    ['{"foo": 1}', 'a:1: expected a session of codex, pi, claude-code'],
    ['{"type":"session","id":"s"}\n{"type":\n{"type":"message"}', 'a:2: expected one JSON object'],
    [lines({ type: 'session', id: 's' }, { type: 'message', message: { role: 'alien' } }), 'a:2: role: Invalid'],
    [JSON.stringify({ messages: [{ content: 'x' }] }), 'a:1: messages.0.role: Invalid input: expected string'],
    [
      JSON.stringify({ values: { messages: [{ type: 'human', content: 'go' }, { content: 'x' }] } }, undefined, 2),
      'a:8: values.messages.1.type: Invalid input: expected string',
    ],
    ['{"messages": []}', 'a:1: expected messages; this openai-chat session has none'],
  ])('refuses %j with file, line and what was expected', (text, message) => {
    expect(() => importSession('a', text)).toThrow(SessionFault);
    expect(() => importSession('a', text)).toThrow(message);
  });
});
