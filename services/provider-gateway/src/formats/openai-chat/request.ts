import type { transcript } from '@nightshift/contracts';
import type { Json, JsonObject } from '../../classify/json';
import type { BuildOptions, BuiltRequest } from '../format';
import { wireIds, type WireIds } from '../tool-call-ids';
import { Translations, dataUrl, keepsReasoning, schemaOf, splitParts } from '../translations';

/** A view as the body of POST /chat/completions. */
export function buildRequest(view: transcript.View, options: BuildOptions): BuiltRequest {
  const { quirks } = options;
  const notes = new Translations();
  const messages: JsonObject[] = [];
  if (view.system) messages.push({ role: quirks.systemRole ?? 'system', content: view.system });
  const ids = wireIds(view.messages, {
    provider: options.provider,
    accepts: quirks.toolCallId ? /^[A-Za-z0-9]{9}$/ : /^\S{1,128}$/,
    nineAlphanumeric: quirks.toolCallId !== undefined,
  });
  for (const message of view.messages) messages.push(...messagesOf(message, options, ids, notes));
  if (quirks.noUserAfterTool) bridge(messages, notes);

  const body: JsonObject = { model: options.model, messages };
  if (view.tools.length > 0) {
    body.tools = view.tools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: schemaOf(tool) as JsonObject },
    }));
    if (options.toolChoice !== 'auto' && !quirks.noToolChoice) body.tool_choice = options.toolChoice;
  }
  if (options.maxOutputTokens > 0 && !quirks.noMaxTokens) body[quirks.maxTokensField ?? 'max_tokens'] = options.maxOutputTokens;
  if (options.temperature !== undefined && !quirks.noTemperature) body.temperature = options.temperature;
  if (options.stream) {
    body.stream = true;
    if (!quirks.noStreamOptions) body.stream_options = { include_usage: true };
  }
  return { body: { ...body, ...(quirks.body as JsonObject | undefined) }, translations: notes.lines() };
}

/** Puts an assistant message between tool results and what the user says next. */
function bridge(messages: JsonObject[], notes: Translations): void {
  for (let index = messages.length - 1; index > 0; index--) {
    if (messages[index]?.role !== 'user' || messages[index - 1]?.role !== 'tool') continue;
    messages.splice(index, 0, { role: 'assistant', content: 'Noted.' });
    notes.add('put an assistant message between tool results and a user message');
  }
}

function messagesOf(message: transcript.ViewMessage, options: BuildOptions, ids: WireIds, notes: Translations): JsonObject[] {
  switch (message.body.case) {
    case 'user':
      return [{ role: 'user', content: userContent(message.body.value.parts, options, notes) }];
    case 'assistant':
      return [assistantMessage(message.body.value, options, ids, notes)];
    case 'toolResults':
      return resultMessages(message.body.value.results, options, ids, notes);
    case undefined:
      return [];
  }
}

function userContent(parts: readonly transcript.Part[], options: BuildOptions, notes: Translations): Json {
  const { text, images } = splitParts(parts);
  if (images.length === 0) return text;
  if (options.quirks.noImages) {
    for (const image of images) notes.add(`dropped an image (${image.mediaType}) that the model does not take`);
    return text || '[image left out]';
  }
  // In their order: "the first picture" must stay the first.
  return parts.flatMap((part): Json[] => {
    if (part.kind.case === 'text') return part.kind.value ? [{ type: 'text', text: part.kind.value }] : [];
    return part.kind.case === 'image' ? [{ type: 'image_url', image_url: { url: dataUrl(part.kind.value) } }] : [];
  });
}

function assistantMessage(
  message: transcript.AssistantMessage,
  options: BuildOptions,
  ids: WireIds,
  notes: Translations,
): JsonObject {
  let text = '';
  const calls: Json[] = [];
  const opaque: Json[] = [];
  for (const block of message.blocks) {
    switch (block.kind.case) {
      case 'text':
        text += block.kind.value;
        break;
      case 'toolCall': {
        const call = block.kind.value;
        calls.push({
          id: ids.of(call.id),
          type: 'function',
          function: { name: call.name, arguments: call.argumentsJson || '{}' },
        });
        break;
      }
      case 'reasoning':
        if (keepsReasoning(block.kind.value, options, notes) && block.kind.value.opaqueJson) {
          opaque.push(...(JSON.parse(block.kind.value.opaqueJson) as Json[]));
        }
        break;
      case undefined:
    }
  }
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(opaque.length > 0 ? { reasoning_details: opaque } : {}),
  };
}

/**
 * One message per result; tool messages hold text only, so pictures follow in a user message after the whole batch
 * (between two results it would break the pairing).
 */
function resultMessages(
  results: readonly transcript.ToolResult[],
  options: BuildOptions,
  ids: WireIds,
  notes: Translations,
): JsonObject[] {
  const messages: JsonObject[] = [];
  const pictures: Json[] = [];
  for (const result of results) {
    const { text, images } = splitParts(result.parts);
    messages.push({ role: 'tool', tool_call_id: ids.of(result.callId), content: result.isError ? `Error: ${text}` : text });
    for (const image of images) {
      if (options.quirks.noImages) notes.add(`dropped an image (${image.mediaType}) that the model does not take`);
      else
        pictures.push(
          { type: 'text', text: `Image from the result of ${result.tool}:` },
          { type: 'image_url', image_url: { url: dataUrl(image) } },
        );
    }
  }
  if (pictures.length > 0) {
    notes.add('moved images of tool results into a user message');
    messages.push({ role: 'user', content: pictures });
  }
  return messages;
}
