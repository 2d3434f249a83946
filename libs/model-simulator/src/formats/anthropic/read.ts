import type { ModelSpec } from '../../config/model-spec';
import type { AssistantTurn, Call, Conversation, ResultsTurn, Segment, Turn, UserTurn } from '../../conversation';
import { isObject, listOf, numberOf, objectOf, textOf, type JsonObject } from '../../json';
import { invalid, Refusal } from '../../vendors/problem';
import type { WireRequest } from '../format';
import { readBlock, type ReadBlock } from './blocks';
import { checkHistory } from './history';

const topLevel = new Set([
  'model',
  'messages',
  'max_tokens',
  'system',
  'metadata',
  'stop_sequences',
  'stream',
  'temperature',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
  'thinking',
  'service_tier',
  'container',
  'context_management',
  'mcp_servers',
  'cache_control',
  'output_config',
  'output_format',
  'speed',
]);

export interface ReadMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly ReadBlock[];
}

/** Anthropic Messages, as strict as the vendor: the first fault found is the one that is told. */
export function readAnthropic(body: JsonObject, spec: ModelSpec): WireRequest {
  for (const field of Object.keys(body)) if (!topLevel.has(field)) throw invalid(`${field}: Extra inputs are not permitted`);
  const requestedOutput = readMaxTokens(body);
  const tools = readTools(body['tools']);
  const thinking = readThinking(body['thinking'], requestedOutput);
  const system = readSystem(body['system']);
  const messages = readMessages(body['messages'], spec);
  const marks =
    tools.marks + system.marks + messages.flatMap((message) => message.blocks).filter((block) => block.cacheMark).length;
  if (marks > 4) throw invalid(`A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
  checkHistory(messages, { toolsDefined: tools.names.length > 0, thinking });
  const endsWithAssistant = messages.at(-1)?.role === 'assistant';
  if (endsWithAssistant && !spec.prefill) throw new Refusal({ kind: 'prefill_refused' });
  const wholeRequestMarked = isObject(body['cache_control']);
  const segments: Segment[] = [];
  if (tools.names.length > 0) segments.push({ text: tools.text, images: 0, message: false, cacheMark: tools.marks > 0 });
  if (system.text !== '') segments.push({ text: system.text, images: 0, message: false, cacheMark: system.marks > 0 });
  messages.forEach((message, index) =>
    segments.push({
      text: `${message.role}\n${message.blocks.map((block) => block.counted).join('\n')}`,
      images: message.blocks.reduce((sum, block) => sum + block.images, 0),
      message: true,
      cacheMark: message.blocks.some((block) => block.cacheMark) || (wholeRequestMarked && index === messages.length - 1),
    }),
  );
  const conversation: Conversation = {
    model: textOf(body['model']),
    system: system.text,
    tools: tools.names,
    turns: toTurns(messages),
    requestedOutput,
  };
  return { conversation, segments, stream: body['stream'] === true, includeUsage: true, requestedOutput, endsWithAssistant };
}

function readMaxTokens(body: JsonObject): number {
  const value = body['max_tokens'];
  if (value === undefined) throw invalid('max_tokens: Field required');
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number)) throw invalid('max_tokens: Input should be a valid integer');
  if (number < 1) throw invalid('max_tokens: Input should be greater than or equal to 1');
  const temperature = body['temperature'];
  if (temperature !== undefined && (numberOf(temperature) ?? 2) > 1) throw invalid('temperature: range: 0..1');
  return number;
}

function readThinking(value: unknown, maxTokens: number): boolean {
  if (!isObject(value)) return false;
  if (value['type'] === 'adaptive') return true;
  if (value['type'] !== 'enabled') return false;
  const budget = numberOf(value['budget_tokens']);
  if (budget === undefined) throw invalid('thinking.enabled.budget_tokens: Field required');
  if (budget < 1024) throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  if (budget >= maxTokens)
    throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation for details.');
  return true;
}

function readTools(value: unknown): { names: string[]; text: string; marks: number } {
  const names: string[] = [];
  let marks = 0;
  const plain = listOf(value).map((tool, index) => {
    const { cache_control: mark, ...rest } = objectOf(tool);
    if (mark !== undefined && mark !== null) marks++;
    const name = textOf(rest['name']);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
      throw invalid(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (rest['type'] === undefined || rest['type'] === 'custom') {
      if (!isObject(rest['input_schema'])) throw invalid(`tools.${index}.custom.input_schema: Field required`);
      if (rest['input_schema']['type'] !== 'object')
        throw invalid(`tools.${index}.custom.input_schema.type: Input should be 'object'`);
    }
    names.push(name);
    return rest;
  });
  if (new Set(names).size < names.length) throw invalid('tools: Tool names must be unique.');
  return { names, text: names.length > 0 ? JSON.stringify(plain) : '', marks };
}

function readSystem(value: unknown): { text: string; marks: number } {
  if (value === undefined) return { text: '', marks: 0 };
  if (typeof value === 'string') return { text: value, marks: 0 };
  if (!Array.isArray(value)) throw invalid('system: Input should be a valid string or list');
  let marks = 0;
  const texts = value.map((entry: unknown, index) => {
    const block = objectOf(entry);
    if (block['type'] !== 'text') throw invalid(`system.${index}.type: Input should be 'text'`);
    if (textOf(block['text']) === '') throw invalid('system: text content blocks must be non-empty');
    if (isObject(block['cache_control'])) marks++;
    return textOf(block['text']);
  });
  return { text: texts.join('\n'), marks };
}

function readMessages(value: unknown, spec: ModelSpec): ReadMessage[] {
  if (!Array.isArray(value)) throw invalid('messages: Field required');
  if (value.length === 0) throw invalid('messages: at least one message is required');
  return value.map((entry: unknown, index) => {
    const message = objectOf(entry);
    const role = message['role'];
    if (role !== 'user' && role !== 'assistant') {
      if (role === 'system')
        throw invalid(
          'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
        );
      throw invalid(`messages.${index}.role: Input should be 'user' or 'assistant'`);
    }
    const content = message['content'];
    const list = typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content;
    if (!Array.isArray(list)) throw invalid(`messages.${index}.content: Input should be a valid list`);
    if (list.length === 0 && !(role === 'assistant' && index === value.length - 1))
      throw invalid(
        `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
      );
    return { role, blocks: list.map((block: unknown, at) => readBlock(block, `messages.${index}.content.${at}`, role, spec)) };
  });
}

/** The vendor merges neighbours of the same role; a user message with results and text becomes two turns. */
function toTurns(messages: readonly ReadMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const { role, blocks } of messages) {
    if (role === 'assistant') {
      const text = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
      const calls = blocks.flatMap((block): Call[] => (block.kind === 'call' ? [block.call] : []));
      turns.push({ role: 'assistant', text, calls } satisfies AssistantTurn);
      continue;
    }
    const results = blocks.flatMap((block) => (block.kind === 'result' ? [block.result] : []));
    const texts = blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : block.kind === 'image' ? ['[image]'] : []));
    if (results.length > 0) turns.push({ role: 'results', results } satisfies ResultsTurn);
    if (texts.length > 0) turns.push({ role: 'user', texts } satisfies UserTurn);
  }
  return turns;
}
