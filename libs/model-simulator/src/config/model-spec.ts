import { z } from 'zod';
import { vendorNames } from '../vendors/vendor-names';
import { faultSpec } from './fault-spec';

export const formatNames = ['anthropic', 'openai-chat', 'openai-responses', 'ollama'] as const;
export type FormatName = (typeof formatNames)[number];

export const latencySpec = z.strictObject({
  firstTokenMs: z.number().min(0).default(0),
  perDeltaMs: z.number().min(0).default(0),
  /** Output tokens per second; adds to perDeltaMs. 0 = as fast as possible. */
  tokensPerSecond: z.number().min(0).default(0),
  deltaChars: z.number().int().min(1).default(48),
});

/** A script by name, with its options as further fields. */
export const scriptSpec = z.union([
  z.string().transform((name): { name: string; [option: string]: unknown } => ({ name })),
  z.looseObject({ name: z.string() }),
]);

export const modelSpec = z.strictObject({
  /** The formats it answers; absent = all. */
  format: z.union([z.enum(formatNames), z.array(z.enum(formatNames))]).optional(),
  /** Whose error bodies, usage quirks and history rules apply; absent = the format's own vendor. */
  vendor: z.enum(vendorNames).optional(),
  /** Input and requested output together must fit, in tokens. */
  window: z.number().int().min(1).default(200_000),
  /** Largest input alone, where the vendor limits it. */
  inputMax: z.number().int().min(1).optional(),
  outputMax: z.number().int().min(1).default(32_000),
  /** Output reserved when the request names none; 0 = none is reserved. */
  outputDefault: z.number().int().min(0).default(0),
  script: scriptSpec.default({ name: 'echo' }),
  faults: z.array(faultSpec).default([]),
  latency: latencySpec.prefault({}),
  /** Assistant prefill: a request may end with an assistant message. */
  prefill: z.boolean().default(false),
  /** Anthropic: overshooting output is cut by the window (models from 4.5 on) instead of refused. */
  windowStop: z.boolean().default(false),
  /** Responses and Codex: overflow is told inside the stream, after status 200. */
  refuseInStream: z.boolean().optional(),
  /** markers: only what lies before a cache_control marker (Anthropic); prefix: the longest known prefix. */
  cache: z.enum(['markers', 'prefix', 'off']).optional(),
  /** What happens to a prompt above the window: refused, or cut without a word. Absent = as the request and the vendor say. */
  overflow: z.enum(['refuse', 'truncate']).optional(),
  /** Factor on the tokenizer's count; absent = 1.3 in the Anthropic format, else 1. */
  tokenFactor: z.number().min(0.1).max(10).optional(),
  perMessageTokens: z.number().int().min(0).default(4),
  imageTokens: z.number().int().min(0).default(1600),
  /** Keys accepted; absent = any, but one must be sent where the vendor wants one. */
  keys: z.array(z.string()).optional(),
  requestBytesMax: z
    .number()
    .int()
    .min(1)
    .default(32 * 1024 * 1024),
  imagesMax: z.number().int().min(0).default(100),
  /** Reasoning blocks come with answers. */
  reasoning: z.boolean().default(false),
  /** Larger windows of real models behind a router: the declared one is shown in lists, `window` is enforced. */
  declaredWindow: z.number().int().min(1).optional(),
});
export type ModelSpec = z.infer<typeof modelSpec>;
