import type { transcript } from '@nightshift/contracts';
import type { Json, JsonObject } from '../../classify/json';
import type { BuildOptions, BuiltRequest } from '../format';
import { wireIds, type WireIds } from '../tool-call-ids';
import { Translations, dataUrl, keepsReasoning, schemaOf } from '../translations';

/** A view as the body of POST /responses, without server-side state: every request carries the whole input. */
export function buildRequest(view: transcript.View, options: BuildOptions): BuiltRequest {
  const { quirks } = options;
  const notes = new Translations();
  const ids = wireIds(view.messages, { provider: options.provider, accepts: /^\S{1,64}$/, nineAlphanumeric: false });
  const body: JsonObject = {
    model: options.model,
    input: view.messages.flatMap((message) => itemsOf(message, options, ids, notes)),
  };
  if (view.system) body.instructions = view.system;
  if (view.tools.length > 0) {
    body.tools = view.tools.map((tool) => ({
      type: 'function',
      name: tool.name,
      description: tool.description,
      parameters: schemaOf(tool) as JsonObject,
      strict: false,
    }));
    if (options.toolChoice !== 'auto' && !quirks.noToolChoice) body.tool_choice = options.toolChoice;
  }
  if (options.maxOutputTokens > 0 && !quirks.noMaxTokens) body.max_output_tokens = options.maxOutputTokens;
  if (options.temperature !== undefined && !quirks.noTemperature) body.temperature = options.temperature;
  if (quirks.stateless) {
    body.store = false;
    body.include = ['reasoning.encrypted_content'];
  }
  if (options.stream) body.stream = true;
  return { body: { ...body, ...(quirks.body as JsonObject | undefined) }, translations: notes.lines() };
}

function itemsOf(message: transcript.ViewMessage, options: BuildOptions, ids: WireIds, notes: Translations): JsonObject[] {
  switch (message.body.case) {
    case 'user':
      return [{ type: 'message', role: 'user', content: inputParts(message.body.value.parts, options, notes) }];
    case 'assistant':
      return message.body.value.blocks.flatMap((block) => blockItems(block, options, ids, notes));
    case 'toolResults':
      return message.body.value.results.map((result) => ({
        type: 'function_call_output',
        call_id: ids.of(result.callId),
        output: outputOf(result, options, notes),
      }));
    case undefined:
      return [];
  }
}

function inputParts(parts: readonly transcript.Part[], options: BuildOptions, notes: Translations): Json[] {
  return parts.flatMap((part): Json[] => {
    if (part.kind.case === 'text') return part.kind.value ? [{ type: 'input_text', text: part.kind.value }] : [];
    if (part.kind.case !== 'image') return [];
    if (options.quirks.noImages) {
      notes.add(`dropped an image (${part.kind.value.mediaType}) that the model does not take`);
      return [];
    }
    return [{ type: 'input_image', image_url: dataUrl(part.kind.value), detail: 'auto' }];
  });
}

function outputOf(result: transcript.ToolResult, options: BuildOptions, notes: Translations): Json {
  const parts = inputParts(result.parts, options, notes);
  const onlyText = result.parts.every((part) => part.kind.case !== 'image');
  const prefix = result.isError ? 'Error: ' : '';
  if (onlyText) return prefix + result.parts.map((part) => (part.kind.case === 'text' ? part.kind.value : '')).join('\n');
  return prefix ? [{ type: 'input_text', text: prefix }, ...parts] : parts;
}

function blockItems(block: transcript.Block, options: BuildOptions, ids: WireIds, notes: Translations): JsonObject[] {
  switch (block.kind.case) {
    case 'text':
      return block.kind.value
        ? [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: block.kind.value, annotations: [] }] }]
        : [];
    case 'toolCall': {
      const call = block.kind.value;
      return [{ type: 'function_call', call_id: ids.of(call.id), name: call.name, arguments: call.argumentsJson || '{}' }];
    }
    case 'reasoning':
      return keepsReasoning(block.kind.value, options, notes) && block.kind.value.opaqueJson
        ? [JSON.parse(block.kind.value.opaqueJson) as JsonObject]
        : [];
    case undefined:
      return [];
  }
}
