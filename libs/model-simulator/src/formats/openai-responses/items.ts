import { signReasoning } from '../../answer';
import type { Call } from '../../conversation';
import { listOf, objectOf, parseArguments, textOf, type JsonObject } from '../../json';
import { invalid } from '../../vendors/problem';

const ID_CHARS_MAX = 64;

export type Item = { readonly counted: string; readonly images: number; readonly id: string } & (
  | { readonly kind: 'message'; readonly role: 'system' | 'user' | 'assistant'; readonly texts: readonly string[] }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'output'; readonly callId: string; readonly text: string }
  | { readonly kind: 'reasoning' }
  | { readonly kind: 'other' }
);

const roles: Readonly<Record<string, 'system' | 'user' | 'assistant'>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** One input item, refused the way the vendor does. */
export function readItem(value: unknown, index: number, stored: boolean): Item {
  const item = objectOf(value);
  const at = `input[${index}]`;
  const id = textOf(item['id']);
  if (id.length > ID_CHARS_MAX)
    throw invalid(
      `Invalid '${at}.id': string too long. Expected a string with maximum length ${ID_CHARS_MAX}, but got a string with length ${id.length} instead.`,
      `${at}.id`,
      'string_above_max_length',
    );
  switch (item['type'] ?? 'message') {
    case 'message':
      return readMessage(item, at, id);
    case 'function_call':
    case 'custom_tool_call': {
      const json = textOf(item['arguments'] ?? item['input']);
      const name = textOf(item['name']);
      const callId = requiredId(item, at);
      return {
        kind: 'call',
        id,
        counted: `${name} ${json}`,
        images: 0,
        call: { id: callId, name, arguments: parseArguments(json) },
      };
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const parts =
        typeof item['output'] === 'string' ? { texts: [item['output']], images: 0 } : readParts(item['output'], `${at}.output`);
      const text = parts.texts.join('\n');
      return { kind: 'output', id, callId: requiredId(item, at), text, counted: text, images: parts.images };
    }
    case 'reasoning':
      checkReasoning(item, id, stored);
      return { kind: 'reasoning', id, counted: textOf(item['encrypted_content']).slice(0, 400), images: 0 };
    case 'item_reference':
    case 'web_search_call':
    case 'local_shell_call':
    case 'local_shell_call_output':
      return { kind: 'other', id, counted: JSON.stringify(item), images: 0 };
    default:
      throw invalid(
        `Invalid value: '${textOf(item['type'])}'. Supported values are: 'custom_tool_call', 'custom_tool_call_output', 'function_call', 'function_call_output', 'item_reference', 'message', 'reasoning', and 'web_search_call'.`,
        `${at}.type`,
        'invalid_value',
      );
  }
}

function requiredId(item: JsonObject, at: string): string {
  const callId = textOf(item['call_id']);
  if (callId === '') throw invalid(`Missing required parameter: '${at}.call_id'.`, `${at}.call_id`, 'missing_required_parameter');
  if (callId.length > ID_CHARS_MAX)
    throw invalid(
      `Invalid '${at}.call_id': string too long. Expected a string with maximum length ${ID_CHARS_MAX}, but got a string with length ${callId.length} instead.`,
      `${at}.call_id`,
      'string_above_max_length',
    );
  return callId;
}

function readMessage(item: JsonObject, at: string, id: string): Item {
  const role = roles[textOf(item['role'])];
  if (role === undefined)
    throw invalid(
      `Invalid value: '${textOf(item['role'])}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      at,
      'invalid_value',
    );
  const content = item['content'];
  const parts = typeof content === 'string' ? { texts: [content], images: 0 } : readParts(content, `${at}.content`, role);
  return { kind: 'message', id, role, texts: parts.texts, counted: [role, ...parts.texts].join('\n'), images: parts.images };
}

function readParts(value: unknown, at: string, role?: string): { texts: string[]; images: number } {
  if (!Array.isArray(value)) throw invalid(`Missing required parameter: '${at}'.`, at, 'missing_required_parameter');
  let images = 0;
  const allowed = role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
  const texts = listOf(value).flatMap((entry, index) => {
    const part = objectOf(entry);
    const type = textOf(part['type']);
    if (!allowed.includes(type))
      throw invalid(
        `Invalid value: '${type}'. Supported values are: ${allowed.map((name) => `'${name}'`).join(', ')}.`,
        `${at}[${index}]`,
        'invalid_value',
      );
    if (type === 'input_image' || type === 'input_file') {
      images++;
      return [];
    }
    return [textOf(part['text'] ?? part['refusal'])];
  });
  return { texts, images };
}

/** `text.signature`, both base64: opaque to the caller, and proof that it comes back as it was written. */
export function encryptReasoning(text: string): string {
  return `${Buffer.from(text).toString('base64')}.${signReasoning(text)}`;
}

function checkReasoning(item: JsonObject, id: string, stored: boolean): void {
  const encrypted = item['encrypted_content'];
  if (typeof encrypted !== 'string') {
    if (!stored)
      throw invalid(
        `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        'input',
      );
    return;
  }
  const [text = '', signature = ''] = encrypted.split('.');
  if (signature !== signReasoning(Buffer.from(text, 'base64').toString('utf8')))
    throw invalid(
      `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      undefined,
      'invalid_encrypted_content',
    );
}
