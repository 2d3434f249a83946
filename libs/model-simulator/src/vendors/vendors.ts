import type { FormatName } from '../config/model-spec';
import { anthropic } from './anthropic';
import { azure } from './azure';
import { bedrock } from './bedrock';
import { codex } from './codex';
import { deepseek } from './deepseek';
import { gemini, geminiCompat } from './gemini';
import { grok } from './grok';
import { groq } from './groq';
import { litellm } from './litellm';
import { llamacpp } from './llamacpp';
import { lmstudio } from './lmstudio';
import { minimax } from './minimax';
import { mistral } from './mistral';
import { ollama } from './ollama';
import { openai } from './openai';
import { openrouter } from './openrouter';
import { sglang } from './sglang';
import { together } from './together';
import type { Vendor } from './vendor';
import type { VendorName } from './vendor-names';
import { vllm } from './vllm';

/** One row per vendor: a missing one does not compile. */
export const vendors: Readonly<Record<VendorName, Vendor>> = {
  anthropic,
  openai,
  codex,
  azure,
  gemini,
  'gemini-compat': geminiCompat,
  grok,
  minimax,
  mistral,
  deepseek,
  groq,
  together,
  openrouter,
  bedrock,
  litellm,
  vllm,
  sglang,
  llamacpp,
  lmstudio,
  ollama,
};

const ofFormat: Readonly<Record<FormatName, VendorName>> = {
  anthropic: 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  ollama: 'ollama',
};

/** The model's own vendor, else its mount's, else the one that the format belongs to. */
export function vendorFor(own: VendorName | undefined, mount: VendorName | undefined, format: FormatName): Vendor {
  return vendors[own ?? mount ?? ofFormat[format]];
}
