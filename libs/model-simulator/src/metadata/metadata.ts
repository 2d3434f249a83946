import type { ServerKind } from '../config/server-spec';
import type { Metadata } from './endpoint';
import { sglangMetadata, vllmMetadata } from './engines';
import { llamacppMetadata } from './llamacpp';
import { lmstudioMetadata } from './lmstudio';
import { ollamaMetadata } from './ollama';
import { vendorLists } from './vendor-lists';

const local: Partial<Record<ServerKind, Metadata>> = {
  ollama: ollamaMetadata,
  lmstudio: lmstudioMetadata,
  vllm: vllmMetadata,
  sglang: sglangMetadata,
  llamacpp: llamacppMetadata,
};

export function metadataOf(kind: ServerKind): Metadata {
  return local[kind] ?? vendorLists;
}

/** Servers that load models into memory. */
export function isLocal(kind: ServerKind): boolean {
  return local[kind] !== undefined;
}
