import type { ModelSpec } from '../../config/model-spec';
import type { Call, Conversation, Result, Segment, Turn } from '../../conversation';
import { isObject, listOf, numberOf, objectOf, parseArguments, textOf, typeName, type JsonObject } from '../../json';
import { invalid, Refusal } from '../../vendors/problem';
import type { Vendor } from '../../vendors/vendor';
import type { WireRequest } from '../format';
import { checkChatHistory } from './history';

const CALL_ID_CHARS_MAX = 40;
const TOOLS_MAX = 128;

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly texts: readonly string[];
  readonly images: number;
  readonly calls: readonly (Call & { readonly json: string })[];
  readonly callId: string;
  readonly hasReasoning: boolean;
}

/** OpenAI chat completions, with the vendor's rules for histories. */
export function readOpenAiChat(body: JsonObject, spec: ModelSpec, vendor: Vendor): WireRequest {
  const rawMessages = body['messages'];
  if (!Array.isArray(rawMessages))
    throw invalid("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter');
  if (rawMessages.length === 0)
    throw invalid(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'messages',
      'empty_array',
    );
  const tools = readChatTools(body['tools']);
  const messages = rawMessages.map(readMessage);
  checkChatHistory(messages, vendor.history);
  const endsWithAssistant = messages.at(-1)?.role === 'assistant';
  if (endsWithAssistant && !spec.prefill && vendor.history !== 'openai') throw new Refusal({ kind: 'prefill_refused' });
  const requestedOutput = readRequestedOutput(body);
  const segments: Segment[] = [];
  if (tools.names.length > 0) segments.push({ text: tools.text, images: 0, message: false, cacheMark: false });
  for (const message of messages) {
    const calls = message.calls.map((call) => `${call.name} ${call.json}`);
    segments.push({
      text: [message.role, ...message.texts, ...calls].join('\n'),
      images: message.images,
      message: true,
      cacheMark: false,
    });
  }
  const system = messages.filter((message) => message.role === 'system').flatMap((message) => message.texts);
  const conversation: Conversation = {
    model: textOf(body['model']),
    system: system.join('\n'),
    tools: tools.names,
    turns: toTurns(messages),
    ...(requestedOutput === undefined ? {} : { requestedOutput }),
  };
  return {
    conversation,
    segments,
    stream: body['stream'] === true,
    includeUsage: objectOf(body['stream_options'])['include_usage'] === true,
    ...(requestedOutput === undefined ? {} : { requestedOutput }),
    endsWithAssistant,
  };
}

function readRequestedOutput(body: JsonObject): number | undefined {
  for (const field of ['max_completion_tokens', 'max_tokens']) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const number = numberOf(value);
    if (number === undefined || !Number.isInteger(number))
      throw invalid(
        `Invalid type for '${field}': expected an integer, but got ${article(value)} instead.`,
        field,
        'invalid_type',
      );
    if (number < 1)
      throw invalid(
        `Invalid '${field}': integer below minimum value. Expected a value >= 1, but got ${number} instead.`,
        field,
        'integer_below_min_value',
      );
    return number;
  }
  return undefined;
}

function readChatTools(value: unknown): { names: string[]; text: string } {
  if (value === undefined || value === null) return { names: [], text: '' };
  if (!Array.isArray(value)) throw invalid("Invalid type for 'tools': expected an array.", 'tools', 'invalid_type');
  if (value.length === 0)
    throw invalid(
      "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'tools',
      'empty_array',
    );
  if (value.length > TOOLS_MAX)
    throw invalid(
      `Invalid 'tools': array too long. Expected an array with maximum length ${TOOLS_MAX}, but got an array with length ${value.length} instead.`,
      'tools',
      'array_above_max_length',
    );
  const names = value.map((tool: unknown, index) => {
    const at = `tools[${index}]`;
    if (objectOf(tool)['type'] !== 'function')
      throw invalid(`Missing required parameter: '${at}.type'.`, `${at}.type`, 'missing_required_parameter');
    return readName(objectOf(objectOf(tool)['function'])['name'], `${at}.function.name`);
  });
  return { names, text: JSON.stringify(value) };
}

function readName(value: unknown, at: string): string {
  const name = textOf(value);
  if (name === '') throw invalid(`Missing required parameter: '${at}'.`, at, 'missing_required_parameter');
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    throw invalid(
      `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      at,
      'invalid_value',
    );
  return name;
}

const roles: Record<string, ChatMessage['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
};

function readMessage(value: unknown, index: number): ChatMessage {
  const at = `messages[${index}]`;
  const message = objectOf(value);
  const role = roles[textOf(message['role'])];
  if (role === undefined)
    throw invalid(
      `Invalid value: '${textOf(message['role'])}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
      `${at}.role`,
      'invalid_value',
    );
  const calls = role === 'assistant' ? readCalls(message['tool_calls'], at) : [];
  const content = readContent(message['content'], role, at, calls.length > 0);
  const callId = message['tool_call_id'];
  if (role === 'tool') {
    if (typeof callId !== 'string')
      throw invalid(
        `Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.`,
        `${at}.tool_call_id`,
      );
    checkCallId(callId, `${at}.tool_call_id`);
  }
  return {
    role,
    ...content,
    calls,
    callId: textOf(callId),
    hasReasoning: typeof message['reasoning_content'] === 'string' || typeof message['reasoning'] === 'string',
  };
}

function readCalls(value: unknown, at: string): ChatMessage['calls'] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value))
    throw invalid(`Invalid type for '${at}.tool_calls': expected an array.`, `${at}.tool_calls`, 'invalid_type');
  if (value.length === 0)
    throw invalid(
      `Invalid '${at}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      `${at}.tool_calls`,
      'empty_array',
    );
  return value.map((entry: unknown, index) => {
    const where = `${at}.tool_calls[${index}]`;
    const call = objectOf(entry);
    const id = textOf(call['id']);
    if (id === '') throw invalid(`Missing required parameter: '${where}.id'.`, `${where}.id`, 'missing_required_parameter');
    checkCallId(id, `${where}.id`);
    if (call['type'] !== 'function')
      throw invalid(`Missing required parameter: '${where}.type'.`, `${where}.type`, 'missing_required_parameter');
    const fn = objectOf(call['function']);
    const json = fn['arguments'];
    if (typeof json !== 'string')
      throw invalid(
        `Invalid type for '${where}.function.arguments': expected a string, but got ${article(json)} instead.`,
        `${where}.function.arguments`,
        'invalid_type',
      );
    return { id, name: readName(fn['name'], `${where}.function.name`), json, arguments: parseArguments(json) };
  });
}

function checkCallId(id: string, at: string): void {
  if (id.length > CALL_ID_CHARS_MAX)
    throw invalid(
      `Invalid '${at}': string too long. Expected a string with maximum length ${CALL_ID_CHARS_MAX}, but got a string with length ${id.length} instead.`,
      at,
      'string_above_max_length',
    );
}

function readContent(
  value: unknown,
  role: ChatMessage['role'],
  at: string,
  hasCalls: boolean,
): { texts: string[]; images: number } {
  if (value === undefined || value === null) {
    if (role === 'assistant' && hasCalls) return { texts: [], images: 0 };
    throw invalid(`Invalid value for 'content': expected a string, got null.`, `${at}.content`);
  }
  if (typeof value === 'string') return { texts: value === '' ? [] : [value], images: 0 };
  if (!Array.isArray(value))
    throw invalid(
      `Invalid type for '${at}.content': expected one of an array of objects or string, but got ${article(value)} instead.`,
      `${at}.content`,
      'invalid_type',
    );
  if (value.length === 0)
    throw invalid(
      `Invalid '${at}.content': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      `${at}.content`,
      'empty_array',
    );
  let images = 0;
  const texts = value.flatMap((entry: unknown, index) => {
    const part = objectOf(entry);
    if (part['type'] === 'text' || part['type'] === 'refusal') return [textOf(part['text'])];
    if (part['type'] === 'image_url' && role === 'user' && isObject(part['image_url'])) {
      images++;
      return [];
    }
    const allowed =
      role === 'user' ? "'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'" : "'text' and 'refusal'";
    throw invalid(
      `Invalid value: '${textOf(part['type'])}'. Supported values are: ${allowed}.`,
      `${at}.content[${index}].type`,
      'invalid_value',
    );
  });
  return { texts, images };
}

export function article(value: unknown): string {
  const name = typeName(value);
  return /^[aeio]/.test(name) ? `an ${name}` : name === 'null' || name === 'undefined' ? 'null' : `a ${name}`;
}

function toTurns(messages: readonly ChatMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.role === 'assistant') turns.push({ role: 'assistant', text: message.texts.join('\n'), calls: message.calls });
    else if (message.role === 'tool') {
      const text = message.texts.join('\n');
      const result: Result = { callId: message.callId, text, isError: /^error\b/i.test(text) };
      if (last?.role === 'results') turns.splice(-1, 1, { role: 'results', results: [...last.results, result] });
      else turns.push({ role: 'results', results: [result] });
    } else if (message.role === 'user')
      turns.push({
        role: 'user',
        texts: [...message.texts, ...listOf(Array.from({ length: message.images }, () => '[image]')).map(textOf)],
      });
  }
  return turns;
}
