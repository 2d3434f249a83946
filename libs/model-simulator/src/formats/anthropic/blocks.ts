import { signReasoning } from '../../answer';
import type { ModelSpec } from '../../config/model-spec';
import type { Call, Result } from '../../conversation';
import { isObject, listOf, objectOf, textOf, type JsonObject } from '../../json';
import { invalid } from '../../vendors/problem';

const IMAGE_BYTES_MAX = 5 * 1024 * 1024;
const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

export type ReadBlock = {
  /** Text that costs tokens. */
  readonly counted: string;
  readonly images: number;
  readonly cacheMark: boolean;
} & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image' }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'reasoning' }
);

/** @param at the vendor's path of the block, as in messages.3.content.0 */
export function readBlock(value: unknown, at: string, role: 'user' | 'assistant', spec: ModelSpec): ReadBlock {
  const block = objectOf(value);
  const cacheMark = isObject(block['cache_control']);
  switch (block['type']) {
    case 'text': {
      const text = block['text'];
      if (typeof text !== 'string') throw invalid(`${at}.text.text: Field required`);
      if (text === '') throw invalid('messages: text content blocks must be non-empty');
      if (text.trim() === '') throw invalid('messages: text content blocks must contain non-whitespace text');
      return { kind: 'text', text, counted: text, images: 0, cacheMark };
    }
    case 'image':
    case 'document':
      if (role === 'assistant') throw invalid(`${at}: image blocks are only permitted in user messages`);
      return { kind: 'image', counted: readImage(block, at), images: 1, cacheMark };
    case 'tool_use':
      return {
        kind: 'call',
        call: readCall(block, at, role),
        counted: `${textOf(block['name'])} ${JSON.stringify(block['input'])}`,
        images: 0,
        cacheMark,
      };
    case 'tool_result':
      return readResult(block, at, role, cacheMark, spec);
    case 'thinking':
      return readThinkingBlock(block, at, role);
    case 'redacted_thinking':
      if (textOf(block['data']) === '') throw invalid(`${at}.redacted_thinking.data: Field required`);
      return { kind: 'reasoning', counted: textOf(block['data']), images: 0, cacheMark: false };
    default:
      throw invalid(
        `${at}: Input tag '${textOf(block['type'])}' found using 'type' does not match any of the expected tags: 'document', 'image', 'redacted_thinking', 'text', 'thinking', 'tool_result', 'tool_use'`,
      );
  }
}

function readImage(block: JsonObject, at: string): string {
  const source = objectOf(block['source']);
  if (source['type'] !== 'base64') return 'image';
  const data = textOf(source['data']);
  if (data === '') throw invalid(`${at}.image.source.base64.data: Field required`);
  if (block['type'] === 'image' && !imageTypes.has(textOf(source['media_type'])))
    throw invalid(`${at}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`);
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > IMAGE_BYTES_MAX)
    throw invalid(`${at}.image.source.base64: image exceeds 5 MB maximum: ${bytes} bytes > ${IMAGE_BYTES_MAX} bytes`);
  return `image ${bytes} ${data.slice(-16)}`;
}

function readCall(block: JsonObject, at: string, role: string): Call {
  if (role !== 'assistant') throw invalid(`${at}: \`tool_use\` blocks can only be in \`assistant\` messages`);
  const id = textOf(block['id']);
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) throw invalid(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  const name = textOf(block['name']);
  if (!/^[a-zA-Z0-9_-]{1,200}$/.test(name))
    throw invalid(`${at}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'`);
  if (!isObject(block['input'])) throw invalid(`${at}.tool_use.input: Input should be a valid dictionary`);
  return { id, name, arguments: block['input'] };
}

function readResult(block: JsonObject, at: string, role: string, cacheMark: boolean, spec: ModelSpec): ReadBlock {
  if (role !== 'user') throw invalid(`${at}: \`tool_result\` blocks can only be in \`user\` messages`);
  const callId = block['tool_use_id'];
  if (typeof callId !== 'string' || callId === '') throw invalid(`${at}.tool_result.tool_use_id: Field required`);
  const isError = block['is_error'] === true;
  const content = block['content'];
  if (content !== undefined && typeof content !== 'string' && !Array.isArray(content))
    throw invalid(`${at}.tool_result.content: Input should be a valid string or list`);
  let images = 0;
  const texts =
    typeof content === 'string'
      ? [content]
      : listOf(content).map((entry, index) => {
          const part = readBlock(entry, `${at}.tool_result.content.${index}`, 'user', spec);
          if (part.kind !== 'text' && part.kind !== 'image')
            throw invalid(
              `${at}.tool_result.content.${index}: Input tag does not match any of the expected tags: 'image', 'text'`,
            );
          images += part.images;
          return part.counted;
        });
  const text = texts.join('\n');
  if (isError && text === '') throw invalid(`${at}.tool_result: content cannot be empty if \`is_error\` is true`);
  return { kind: 'result', result: { callId, text, isError }, counted: text, images, cacheMark };
}

/** A block is taken back only as it was written: its signature covers its text. */
function readThinkingBlock(block: JsonObject, at: string, role: string): ReadBlock {
  if (role !== 'assistant') throw invalid(`${at}: \`thinking\` blocks can only be in \`assistant\` messages`);
  if (typeof block['signature'] !== 'string') throw invalid(`${at}.thinking.signature: Field required`);
  if (typeof block['thinking'] !== 'string') throw invalid(`${at}.thinking.thinking: Field required`);
  if (block['signature'] !== signReasoning(block['thinking']))
    throw invalid(`${at}: Invalid \`signature\` in \`thinking\` block`);
  return { kind: 'reasoning', counted: block['thinking'], images: 0, cacheMark: false };
}
