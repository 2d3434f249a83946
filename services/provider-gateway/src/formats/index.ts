import { anthropicMessages } from './anthropic-messages';
import type { Format, FormatName } from './format';
import { ollamaChat } from './ollama-chat';
import { openAiChat } from './openai-chat';
import { openAiResponses } from './openai-responses';

/** The wire formats by name; a missing one does not compile. */
export const formats: Readonly<Record<FormatName, Format>> = {
  'anthropic-messages': anthropicMessages,
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'ollama-chat': ollamaChat,
};
