import { z } from 'zod';
import { vendorNames } from '../vendors/vendor-names';
import { modelSpec } from './model-spec';

/** Whose metadata endpoints a server shows; every vendor that has a model list, and every local server. */
export const serverKinds = vendorNames;
export type ServerKind = (typeof serverKinds)[number];

/** What a server says about a model beside serving it. Windows in tokens. */
export const modelFacts = z.strictObject({
  /** Largest window that the model was trained for; absent = its `window`. */
  trained: z.number().int().min(1).optional(),
  /** In memory at the start; an unloaded one is loaded by its first request. */
  loaded: z.boolean().default(true),
  /** Milliseconds that loading takes. */
  loadMs: z.number().int().min(0).default(0),
  /** num_ctx in the Modelfile (Ollama). */
  modelfileNumCtx: z.number().int().min(1).optional(),
  /** A cloud row in a local list (Ollama). */
  remoteHost: z.string().optional(),
  architecture: z.string().default('llama'),
  parameterSize: z.string().default('8.0B'),
  quantization: z.string().default('Q4_K_M'),
  type: z.enum(['llm', 'vlm', 'embeddings']).default('llm'),
  /** The base model of a LoRA row, whose own window is null (vLLM, SGLang). */
  loraOf: z.string().optional(),
  /** Windows of several loaded instances (LM Studio v1). */
  instances: z.array(z.number().int().min(1)).optional(),
  /** Parallel slots; `window` is per slot (llama.cpp). */
  slots: z.number().int().min(1).default(1),
  sleeping: z.boolean().default(false),
  /** Tokens of the KV pool and the largest input, where they are smaller than the window (SGLang). */
  kvTokens: z.number().int().min(1).optional(),
  inputLimit: z.number().int().min(1).optional(),
  /** Figures shown in a list in place of the true ones: catalogues and routers do not always tell the truth. */
  listedWindow: z.number().int().nullable().optional(),
  listedOutput: z.number().int().nullable().optional(),
  /** Fields that this version of the server does not have yet. */
  without: z.array(z.string()).default([]),
});
export type ModelFacts = z.infer<typeof modelFacts>;

export const serverModel = modelSpec.extend({ facts: modelFacts.prefault({}) });
export type ServerModel = z.infer<typeof serverModel>;

/** How the metadata endpoints of a server misbehave. */
export const serverMode = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('up') }),
  /** Refuses connections where the server has its own port, resets them elsewhere; model requests too. */
  z.strictObject({ mode: z.literal('down') }),
  /** Accepts and never answers; model requests too. */
  z.strictObject({ mode: z.literal('hang') }),
  z.strictObject({ mode: z.literal('slow'), ms: z.number().int().min(0) }),
  z.strictObject({ mode: z.literal('status'), status: z.number().int().min(100).max(599) }),
  z.strictObject({
    mode: z.literal('hostile'),
    body: z.enum(['html', 'empty', 'half_json', 'wrong_types', 'missing_fields', 'null_fields', 'array', 'deep', 'negative']),
  }),
  z.strictObject({
    mode: z.literal('huge'),
    bytes: z
      .number()
      .int()
      .default(50 * 1024 * 1024),
  }),
  z.strictObject({ mode: z.literal('redirect'), to: z.string() }),
]);
export type ServerMode = z.infer<typeof serverMode>;

export const serverSpec = z.strictObject({
  kind: z.enum(serverKinds),
  /** Own port on the loopback interface, 0 = any; absent = under /servers/<name> of the main one. */
  port: z.number().int().min(0).max(65_535).optional(),
  version: z.string().optional(),
  /** llama.cpp in router mode. */
  router: z.boolean().default(false),
  /** Key that every endpoint asks for. */
  key: z.string().optional(),
  mode: serverMode.default({ mode: 'up' }),
  models: z.record(z.string(), serverModel).default({}),
});
export type ServerSpec = z.infer<typeof serverSpec>;
