import type { transcript } from '@nightshift/contracts';
import type { Json, JsonObject } from '../../classify/json';
import type { BuildOptions, BuiltRequest } from '../format';
import { Translations, argumentsObject, base64, keepsReasoning, schemaOf, splitParts } from '../translations';

/** A view as the body of POST /api/chat, the only Ollama route that takes `num_ctx`. */
export function buildRequest(view: transcript.View, options: BuildOptions): BuiltRequest {
  const notes = new Translations();
  const messages: JsonObject[] = view.system ? [{ role: 'system', content: view.system }] : [];
  for (const message of view.messages) messages.push(...messagesOf(message, options, notes));
  if (options.toolChoice === 'required') notes.add('the model cannot be made to call a tool: tool_choice left out');

  const settings: JsonObject = {};
  // Another value than the loaded one makes the server load the model anew, so it is constant per model.
  if (options.numCtx > 0) settings.num_ctx = options.numCtx;
  if (options.maxOutputTokens > 0) settings.num_predict = options.maxOutputTokens;
  if (options.temperature !== undefined) settings.temperature = options.temperature;
  const body: JsonObject = {
    model: options.model,
    messages,
    stream: options.stream,
    options: settings,
    // Ask for an error instead of a silently shortened prompt; builds that do not know the fields ignore them.
    truncate: false,
    shift: false,
  };
  if (view.tools.length > 0 && options.toolChoice !== 'none') {
    body.tools = view.tools.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: schemaOf(tool) as JsonObject },
    }));
  }
  return { body: { ...body, ...(options.quirks.body as JsonObject | undefined) }, translations: notes.lines() };
}

function messagesOf(message: transcript.ViewMessage, options: BuildOptions, notes: Translations): JsonObject[] {
  switch (message.body.case) {
    case 'user':
      return [{ role: 'user', ...contentOf(message.body.value.parts, options, notes) }];
    case 'assistant': {
      let text = '';
      const calls: Json[] = [];
      for (const block of message.body.value.blocks) {
        if (block.kind.case === 'text') text += block.kind.value;
        else if (block.kind.case === 'toolCall') {
          const call = block.kind.value;
          calls.push({ function: { name: call.name, arguments: argumentsObject(call.argumentsJson, notes) as JsonObject } });
        } else if (block.kind.case === 'reasoning') keepsReasoning(block.kind.value, options, notes);
      }
      return [{ role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
    }
    case 'toolResults':
      // Results carry the name only; they are matched by their order, which the view keeps.
      return message.body.value.results.map((result) => {
        const content = contentOf(result.parts, options, notes);
        return { role: 'tool', tool_name: result.tool, ...content, content: (result.isError ? 'Error: ' : '') + content.content };
      });
    case undefined:
      return [];
  }
}

function contentOf(
  parts: readonly transcript.Part[],
  options: BuildOptions,
  notes: Translations,
): { content: string; images?: string[] } {
  const { text, images } = splitParts(parts);
  if (images.length === 0) return { content: text };
  if (options.quirks.noImages) {
    for (const image of images) notes.add(`dropped an image (${image.mediaType}) that the model does not take`);
    return { content: text };
  }
  return { content: text, images: images.map(base64) };
}
