import type { transcript } from '@nightshift/contracts';
import type { Json, JsonObject } from '../../classify/json';
import type { BuildOptions, BuiltRequest } from '../format';
import { wireIds, type WireIds } from '../tool-call-ids';
import { Translations, argumentsObject, base64, keepsReasoning, schemaOf } from '../translations';

const ephemeral = { type: 'ephemeral' };

/** A view as the body of POST /v1/messages. */
export function buildRequest(view: transcript.View, options: BuildOptions): BuiltRequest {
  const notes = new Translations();
  const messages = messagesOf(view, options, notes);
  const body: JsonObject = { model: options.model, max_tokens: options.maxOutputTokens, messages };
  if (view.system) {
    body.system = [{ type: 'text', text: view.system, ...(options.quirks.promptCache ? { cache_control: ephemeral } : {}) }];
  }
  if (view.tools.length > 0) {
    body.tools = view.tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      input_schema: schemaOf(tool) as JsonObject,
    }));
    if (options.toolChoice !== 'auto') body.tool_choice = { type: options.toolChoice === 'required' ? 'any' : 'none' };
  }
  if (options.temperature !== undefined) body.temperature = options.temperature;
  if (options.stream) body.stream = true;
  if (options.quirks.promptCache) markLast(messages);
  return { body: { ...body, ...(options.quirks.body as JsonObject | undefined) }, translations: notes.lines() };
}

/** The cache reads up to the mark: at the newest message, so that the next request finds everything before it. */
function markLast(messages: JsonObject[]): void {
  const content = messages.at(-1)?.content;
  const last = Array.isArray(content) ? content.at(-1) : undefined;
  if (last && typeof last === 'object' && !Array.isArray(last) && last.type !== 'thinking' && last.type !== 'redacted_thinking') {
    last.cache_control = ephemeral;
  }
}

function messagesOf(view: transcript.View, options: BuildOptions, notes: Translations): JsonObject[] {
  const ids = wireIds(view.messages, { provider: options.provider, accepts: /^[\w-]{1,64}$/, nineAlphanumeric: false });
  const messages: { role: string; content: Json[] }[] = [];
  for (const message of view.messages) {
    const role = message.body.case === 'assistant' ? 'assistant' : 'user';
    const content = contentOf(message, options, ids, notes);
    if (content.length === 0) {
      notes.add(`left out an empty ${role} message`);
      continue;
    }
    const last = messages.at(-1);
    // Two user messages in a row are one turn; results stay in front, as the API demands.
    if (last && last.role === role && role === 'user') last.content.push(...content);
    else messages.push({ role, content });
  }
  return messages;
}

function contentOf(message: transcript.ViewMessage, options: BuildOptions, ids: WireIds, notes: Translations): Json[] {
  switch (message.body.case) {
    case 'user':
      return partsOf(message.body.value.parts);
    case 'assistant':
      return message.body.value.blocks.flatMap((block) => blockOf(block, options, ids, notes));
    case 'toolResults':
      return message.body.value.results.map((result) => {
        const content = partsOf(result.parts);
        return {
          type: 'tool_result',
          tool_use_id: ids.of(result.callId),
          ...(content.length > 0 ? { content } : {}),
          ...(result.isError ? { is_error: true } : {}),
        };
      });
    case undefined:
      return [];
  }
}

function partsOf(parts: readonly transcript.Part[]): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    // The API refuses empty text blocks.
    if (part.kind.case === 'text') return part.kind.value === '' ? [] : [{ type: 'text', text: part.kind.value }];
    if (part.kind.case !== 'image') return [];
    const image = part.kind.value;
    return [{ type: 'image', source: { type: 'base64', media_type: image.mediaType, data: base64(image) } }];
  });
}

function blockOf(block: transcript.Block, options: BuildOptions, ids: WireIds, notes: Translations): JsonObject[] {
  switch (block.kind.case) {
    case 'text':
      return block.kind.value === '' ? [] : [{ type: 'text', text: block.kind.value }];
    case 'toolCall': {
      const call = block.kind.value;
      return [
        {
          type: 'tool_use',
          id: ids.of(call.id),
          name: call.name,
          input: argumentsObject(call.argumentsJson, notes) as JsonObject,
        },
      ];
    }
    case 'reasoning': {
      const reasoning = block.kind.value;
      if (!keepsReasoning(reasoning, options, notes)) return [];
      return reasoning.opaqueJson
        ? [JSON.parse(reasoning.opaqueJson) as JsonObject]
        : [{ type: 'thinking', thinking: reasoning.text, signature: reasoning.signature }];
    }
    case undefined:
      return [];
  }
}
