import type { ModelSpec } from '../../config/model-spec';
import type { Call, Conversation, Result, Segment, Turn } from '../../conversation';
import { listOf, numberOf, objectOf, textOf, type JsonObject } from '../../json';
import { invalid } from '../../vendors/problem';
import type { WireRequest } from '../format';

const roles = new Set(['system', 'user', 'assistant', 'tool']);

/** Ollama's own chat API. It takes nearly every history; what it does not know are call ids, so results pair by order. */
export function readOllama(body: JsonObject, _spec: ModelSpec): WireRequest {
  const messages = listOf(body['messages']).map((entry) => objectOf(entry));
  for (const message of messages)
    if (!roles.has(textOf(message['role']))) throw invalid(`invalid role: "${textOf(message['role'])}"`);
  const options = objectOf(body['options']);
  const tools = listOf(body['tools']).map((tool) => textOf(objectOf(objectOf(tool)['function'])['name']));
  const predict = numberOf(options['num_predict']);
  const requestedOutput = predict !== undefined && predict > 0 ? predict : undefined;
  const segments: Segment[] = [];
  if (tools.length > 0) segments.push({ text: JSON.stringify(body['tools']), images: 0, message: false, cacheMark: false });
  for (const message of messages)
    segments.push({
      text: [
        textOf(message['role']),
        textOf(message['content']),
        message['tool_calls'] === undefined ? '' : JSON.stringify(message['tool_calls']),
      ].join('\n'),
      images: listOf(message['images']).length,
      message: true,
      cacheMark: false,
    });
  const conversation: Conversation = {
    model: textOf(body['model']),
    system: messages
      .filter((message) => message['role'] === 'system')
      .map((message) => textOf(message['content']))
      .join('\n'),
    tools,
    turns: turnsOf(messages),
    ...(requestedOutput === undefined ? {} : { requestedOutput }),
  };
  const numCtx = numberOf(options['num_ctx']);
  return {
    conversation,
    segments,
    stream: body['stream'] !== false,
    includeUsage: true,
    ...(requestedOutput === undefined ? {} : { requestedOutput }),
    ...(numCtx === undefined ? {} : { numCtx }),
    ...(messages.length > 0 ? {} : { loadOnly: body['keep_alive'] === 0 ? ('unload' as const) : ('load' as const) }),
    endsWithAssistant: messages.at(-1)?.['role'] === 'assistant',
    truncate: body['truncate'] !== false && body['shift'] !== false,
  };
}

function turnsOf(messages: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = [];
  let waiting: string[] = [];
  messages.forEach((message, index) => {
    const content = textOf(message['content']);
    switch (message['role']) {
      case 'user':
        turns.push({ role: 'user', texts: [content, ...listOf(message['images']).map(() => '[image]')] });
        break;
      case 'assistant': {
        const calls = listOf(message['tool_calls']).map((entry, at): Call => {
          const fn = objectOf(objectOf(entry)['function']);
          const id = textOf(objectOf(entry)['id']) || `call-${index}-${at}`;
          return { id, name: textOf(fn['name']), arguments: objectOf(fn['arguments']) };
        });
        waiting = calls.map((call) => call.id);
        turns.push({ role: 'assistant', text: content, calls });
        break;
      }
      case 'tool': {
        const named = textOf(message['tool_call_id']);
        const callId = named === '' ? (waiting.shift() ?? `unknown-${index}`) : named;
        const result: Result = { callId, text: content, isError: /^error\b/i.test(content) };
        const last = turns.at(-1);
        if (last?.role === 'results') turns.splice(-1, 1, { role: 'results', results: [...last.results, result] });
        else turns.push({ role: 'results', results: [result] });
        break;
      }
    }
  });
  return turns;
}
