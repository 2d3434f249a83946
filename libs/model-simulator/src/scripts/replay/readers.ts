import { isObject, listOf, objectOf, parseArguments, textOf, type JsonObject } from '../../json';
import type { RecordedEvent } from './recording';

/** The text of a content field: a string, or blocks of which only the text counts. */
function plain(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((entry) => {
      const block = objectOf(entry);
      if (block['type'] === 'image' || block['type'] === 'input_image') return '[image]';
      return textOf(block['text']);
    })
    .filter((text) => text !== '')
    .join('\n');
}

function claudeCode(lines: readonly JsonObject[]): RecordedEvent[] {
  return lines.flatMap((line): RecordedEvent[] => {
    if (line['type'] !== 'user' && line['type'] !== 'assistant') return [];
    const message = objectOf(line['message']);
    const blocks = listOf(message['content']).map(objectOf);
    if (line['type'] === 'assistant') {
      const calls = blocks
        .filter((block) => block['type'] === 'tool_use')
        .map((block) => ({ id: textOf(block['id']), name: textOf(block['name']), arguments: objectOf(block['input']) }));
      return [
        { kind: 'assistant', key: textOf(message['id']), text: plain(blocks.filter((block) => block['type'] === 'text')), calls },
      ];
    }
    const results = blocks
      .filter((block) => block['type'] === 'tool_result')
      .map((block): RecordedEvent => ({ kind: 'result', id: textOf(block['tool_use_id']), text: plain(block['content']) }));
    const text = plain(message['content']);
    return text === '' ? results : [...results, { kind: 'user', text }];
  });
}

function codex(lines: readonly JsonObject[]): RecordedEvent[] {
  let turn = 0;
  return lines.flatMap((line): RecordedEvent[] => {
    if (line['type'] !== 'response_item') return [];
    const item = objectOf(line['payload']);
    switch (item['type']) {
      case 'message':
        if (item['role'] === 'assistant')
          return [{ kind: 'assistant', key: `turn-${turn}`, text: plain(item['content']), calls: [] }];
        return [{ kind: 'user', text: plain(item['content']) }];
      case 'function_call':
      case 'custom_tool_call': {
        const json = textOf(item['arguments']);
        const given = item['type'] === 'function_call' ? parseArguments(json) : { input: textOf(item['input']) };
        const call = { id: textOf(item['call_id']), name: textOf(item['name']), arguments: given };
        return [{ kind: 'assistant', key: `turn-${turn}`, text: '', calls: [call] }];
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        turn++;
        return [{ kind: 'result', id: textOf(item['call_id']), text: textOf(item['output']) }];
      default:
        return [];
    }
  });
}

function pi(lines: readonly JsonObject[]): RecordedEvent[] {
  return lines.flatMap((line): RecordedEvent[] => {
    const message = objectOf(line['message']);
    if (line['type'] !== 'message') return [];
    if (message['role'] === 'toolResult')
      return [{ kind: 'result', id: textOf(message['toolCallId']), text: plain(message['content']) }];
    if (message['role'] !== 'assistant') return [{ kind: 'user', text: plain(message['content']) || textOf(message['output']) }];
    const calls = listOf(message['content'])
      .map(objectOf)
      .filter((block) => block['type'] === 'toolCall')
      .map((block) => ({ id: textOf(block['id']), name: textOf(block['name']), arguments: objectOf(block['arguments']) }));
    return [{ kind: 'assistant', key: '', text: plain(message['content']), calls }];
  });
}

/** OpenAI messages; swe-agent names its results in a list. */
function chat(messages: readonly unknown[]): RecordedEvent[] {
  return messages.map(objectOf).flatMap((message): RecordedEvent[] => {
    const text = plain(message['content']);
    if (message['role'] === 'tool') {
      const id = textOf(message['tool_call_id']) || textOf(listOf(message['tool_call_ids'])[0]);
      return [{ kind: 'result', id, text }];
    }
    if (message['role'] !== 'assistant') return [{ kind: 'user', text }];
    const calls = listOf(message['tool_calls']).map((entry) => {
      const call = objectOf(entry);
      const fn = objectOf(call['function']);
      const given = fn['arguments'];
      return {
        id: textOf(call['id']),
        name: textOf(fn['name']),
        arguments: isObject(given) ? given : parseArguments(textOf(given)),
      };
    });
    return [{ kind: 'assistant', key: '', text, calls }];
  });
}

function langgraph(messages: readonly unknown[]): RecordedEvent[] {
  return messages.map(objectOf).flatMap((message): RecordedEvent[] => {
    const text = plain(message['content']);
    if (message['type'] === 'tool') return [{ kind: 'result', id: textOf(message['tool_call_id']), text }];
    if (message['type'] !== 'ai') return [{ kind: 'user', text }];
    const calls = listOf(message['tool_calls'])
      .map(objectOf)
      .map((call) => ({ id: textOf(call['id']), name: textOf(call['name']), arguments: objectOf(call['args']) }));
    return [{ kind: 'assistant', key: '', text, calls }];
  });
}

function gemini(messages: readonly unknown[]): RecordedEvent[] {
  return messages.map(objectOf).flatMap((message): RecordedEvent[] => {
    const text = plain(message['content']);
    if (message['type'] !== 'gemini') return [{ kind: 'user', text }];
    const calls = listOf(message['toolCalls']).map(objectOf);
    const asked: RecordedEvent = {
      kind: 'assistant',
      key: '',
      text,
      calls: calls.map((call) => ({ id: textOf(call['id']), name: textOf(call['name']), arguments: objectOf(call['args']) })),
    };
    const results = calls.map((call): RecordedEvent => {
      const response = objectOf(objectOf(objectOf(listOf(call['result'])[0])['functionResponse'])['response']);
      return { kind: 'result', id: textOf(call['id']), text: textOf(response['output']) };
    });
    return [asked, ...results];
  });
}

function atif(steps: readonly unknown[]): RecordedEvent[] {
  return steps.map(objectOf).flatMap((step): RecordedEvent[] => {
    if (step['source'] !== 'agent') return [{ kind: 'user', text: textOf(step['message']) }];
    const calls = listOf(step['tool_calls'])
      .map(objectOf)
      .map((call) => ({
        id: textOf(call['tool_call_id']),
        name: textOf(call['function_name']),
        arguments: objectOf(call['arguments']),
      }));
    const observed = listOf(objectOf(step['observation'])['results']).map(objectOf);
    const results = calls.flatMap((call, index): RecordedEvent[] =>
      observed[index] === undefined ? [] : [{ kind: 'result', id: call.id, text: textOf(observed[index]['content']) }],
    );
    return [{ kind: 'assistant', key: '', text: textOf(step['message']), calls }, ...results];
  });
}

/** Recognises the format by its shape. Throws when it is none of the known ones. */
export function readRecording(text: string): RecordedEvent[] {
  const lines = parseLines(text);
  if (lines !== undefined) {
    if (lines.some((line) => line['type'] === 'session_meta')) return codex(lines);
    return lines[0]?.['type'] === 'session' ? pi(lines) : claudeCode(lines);
  }
  const whole = objectOf(JSON.parse(text) as unknown);
  if (Array.isArray(whole['steps'])) return atif(whole['steps']);
  if (Array.isArray(whole['history'])) return chat(whole['history']);
  if (Array.isArray(whole['traj'])) return chat(whole['traj']);
  const values = objectOf(whole['values']);
  if (Array.isArray(values['messages'])) return langgraph(values['messages']);
  const messages = listOf(whole['messages']);
  if (messages.some((message) => objectOf(message)['type'] === 'gemini')) return gemini(messages);
  if (messages.length > 0) {
    const reply = objectOf(objectOf(listOf(objectOf(whole['response'])['choices'])[0])['message']);
    return chat(Object.keys(reply).length > 0 ? [...messages, reply] : messages);
  }
  throw new Error('not a recorded session of a known format');
}

/** JSON lines; undefined when the text is one JSON value. */
function parseLines(text: string): JsonObject[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length < 2) return undefined;
  try {
    return lines.map((line) => objectOf(JSON.parse(line) as unknown));
  } catch {
    return undefined;
  }
}
