/** Whose error bodies and usage quirks a model shows. */
export const vendorNames = [
  'anthropic',
  'openai',
  'codex',
  'azure',
  'gemini',
  'gemini-compat',
  'grok',
  'minimax',
  'mistral',
  'deepseek',
  'groq',
  'together',
  'openrouter',
  'bedrock',
  'litellm',
  'vllm',
  'sglang',
  'llamacpp',
  'lmstudio',
  'ollama',
] as const;
export type VendorName = (typeof vendorNames)[number];
