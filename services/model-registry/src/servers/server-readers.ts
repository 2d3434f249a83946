import { LlamaCppReader } from './llamacpp';
import { LmStudioReader } from './lmstudio';
import { OllamaReader } from './ollama';
import type { ServerReader } from './server-reader';
import { SglangReader } from './sglang';
import { VllmReader } from './vllm';

/** One reader per endpoint, since some remember what they have read. */
const makers: Readonly<Record<string, () => ServerReader>> = {
  ollama: () => new OllamaReader(),
  lmstudio: () => new LmStudioReader(),
  vllm: () => new VllmReader(),
  sglang: () => new SglangReader(),
  llamacpp: () => new LlamaCppReader(),
};

/** Undefined for a vendor whose models only the gateway can list. */
export function serverReaderFor(vendor: string): ServerReader | undefined {
  return makers[vendor]?.();
}
