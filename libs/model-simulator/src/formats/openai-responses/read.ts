import type { ModelSpec } from '../../config/model-spec';
import type { Conversation, Segment } from '../../conversation';
import { listOf, numberOf, objectOf, textOf, type JsonObject } from '../../json';
import { invalid } from '../../vendors/problem';
import type { Vendor } from '../../vendors/vendor';
import type { WireRequest } from '../format';
import { checkItems } from './history';
import { readItem, type Item } from './items';
import { turnsOf } from './turns';

const SMALLEST_OUTPUT = 16;

/** OpenAI Responses, stateless: everything that the model is to know lies in `input`. */
export function readOpenAiResponses(body: JsonObject, _spec: ModelSpec, vendor: Vendor): WireRequest {
  if (typeof body['previous_response_id'] === 'string')
    throw invalid(
      `Previous response with id '${body['previous_response_id']}' not found.`,
      'previous_response_id',
      'previous_response_not_found',
    );
  const requestedOutput = readOutput(body, vendor.refusesInStream === true);
  const tools = readTools(body['tools']);
  const items = readInput(body['input'], body['store'] !== false);
  checkItems(items);
  const instructions = textOf(body['instructions']);
  const segments: Segment[] = [];
  if (tools.names.length > 0) segments.push({ text: tools.text, images: 0, message: false, cacheMark: false });
  if (instructions !== '') segments.push({ text: instructions, images: 0, message: false, cacheMark: false });
  for (const item of items) segments.push({ text: item.counted, images: item.images, message: true, cacheMark: false });
  const systems = items.flatMap((item) => (item.kind === 'message' && item.role === 'system' ? item.texts : []));
  const conversation: Conversation = {
    model: textOf(body['model']),
    system: [instructions, ...systems].filter((text) => text !== '').join('\n'),
    tools: tools.names,
    turns: turnsOf(items),
    ...(requestedOutput === undefined ? {} : { requestedOutput }),
  };
  return {
    conversation,
    segments,
    stream: body['stream'] === true,
    includeUsage: true,
    ...(requestedOutput === undefined ? {} : { requestedOutput }),
    endsWithAssistant: false,
    truncate: body['truncation'] === 'auto',
    encryptedReasoning: listOf(body['include']).includes('reasoning.encrypted_content'),
  };
}

function readOutput(body: JsonObject, codex: boolean): number | undefined {
  const value = body['max_output_tokens'];
  if (value === undefined || value === null) return undefined;
  // The Codex backend knows no such parameter.
  if (codex) throw invalid('Unsupported parameter: max_output_tokens', 'max_output_tokens', 'unsupported_parameter');
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number))
    throw invalid("Invalid type for 'max_output_tokens': expected an integer.", 'max_output_tokens', 'invalid_type');
  if (number < SMALLEST_OUTPUT)
    throw invalid(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${SMALLEST_OUTPUT}, but got ${number} instead.`,
      'max_output_tokens',
      'integer_below_min_value',
    );
  return number;
}

function readTools(value: unknown): { names: string[]; text: string } {
  const names = listOf(value).map((entry, index) => {
    const tool = objectOf(entry);
    if (textOf(tool['type']) === '')
      throw invalid(`Missing required parameter: 'tools[${index}].type'.`, `tools[${index}].type`, 'missing_required_parameter');
    if (tool['type'] !== 'function' && tool['type'] !== 'custom') return textOf(tool['type']);
    const name = textOf(tool['name']);
    // The chat format nests it under `function`; here that is a mistake.
    if (name === '')
      throw invalid(`Missing required parameter: 'tools[${index}].name'.`, `tools[${index}].name`, 'missing_required_parameter');
    return name;
  });
  return { names, text: names.length > 0 ? JSON.stringify(value) : '' };
}

function readInput(value: unknown, stored: boolean): Item[] {
  if (typeof value === 'string') return [readItem({ role: 'user', content: value }, 0, stored)];
  if (!Array.isArray(value)) throw invalid("Missing required parameter: 'input'.", 'input', 'missing_required_parameter');
  if (value.length === 0)
    throw invalid(
      "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'input',
      'empty_array',
    );
  return value.map((item: unknown, index) => readItem(item, index, stored));
}
