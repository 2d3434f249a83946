import type { FormatName } from '../formats/format';

/** How a vendor differs from its format. Everything is optional except in the table's reading: absent = as the format says. */
export interface VendorQuirks {
  /** Name of the output limit in chat completions. */
  maxTokensField?: 'max_tokens' | 'max_completion_tokens';
  /** The output limit must not be sent (Codex backend). */
  noMaxTokens?: boolean;
  /** `stream_options` is refused. */
  noStreamOptions?: boolean;
  /** `tool_choice` is refused or ignored. */
  noToolChoice?: boolean;
  /** `temperature` is refused. */
  noTemperature?: boolean;
  /** Role of the system prompt in chat completions. */
  systemRole?: 'system' | 'developer';
  /** How the key travels. */
  auth?: 'bearer' | 'x-api-key' | 'api-key' | 'none';
  /** A bare 400 or 413 is an overflow. */
  emptyBodyMeansOverflow?: boolean;
  /** Marks for the prompt cache are understood. */
  promptCache?: boolean;
  /** Images are refused. */
  noImages?: boolean;
  /** Field of a chat delta that carries reasoning text. */
  reasoningField?: 'reasoning_content' | 'reasoning';
  /** Reasoning text is sent back in assistant messages of the same provider. */
  returnsReasoning?: boolean;
  /** Extra members of every request body. */
  body?: Readonly<Record<string, unknown>>;
  /** Output limit to send when the caller gave none and the format demands one. */
  defaultMaxTokens?: number;
  /** `store: false` with encrypted reasoning (Responses without server-side state). */
  stateless?: boolean;
  /** Tool-call ids must have this form (Mistral: nine letters or digits). */
  toolCallId?: 'nine-alphanumeric';
  /** A user message right behind a tool message is refused; a short assistant message is put between. */
  noUserAfterTool?: boolean;
}

/** Where a vendor's models are listed, for the registry. */
export type ModelListStyle = 'anthropic' | 'openai' | 'openrouter' | 'mistral' | 'gemini' | 'groq' | 'ollama' | 'none';

export interface Vendor {
  /** Shown to people. */
  title: string;
  format: FormatName;
  /** Default endpoint; undefined = the configuration must give one. */
  baseUrl?: string;
  /** Usual name of the environment variable with the key. */
  keyEnv?: string;
  /** A key must be configured. */
  needsKey: boolean;
  models: ModelListStyle;
  quirks: VendorQuirks;
  headers?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
}
