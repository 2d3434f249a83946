import { z } from 'zod';
import { serverModel, serverSpec } from './server-spec';

export const simulatorConfig = z.strictObject({
  /** Seed of the faults that apply with a probability. */
  seed: z.number().int().default(1),
  /** Models of the cloud side, under /anthropic, /openai, /codex and every other vendor prefix. */
  models: z.record(z.string(), serverModel).default({}),
  /** The ready answer under /bench/…: its deltas, and the time between them when streamed. */
  bench: z.strictObject({ deltas: z.number().int().min(1).default(60), perDeltaMs: z.number().min(0).default(0) }).prefault({}),
  /** Servers of their own: local ones, and vendors whose lists differ from the cloud side. */
  servers: z.record(z.string().regex(/^[\w.-]+$/), serverSpec).default({}),
});
export type SimulatorConfig = z.infer<typeof simulatorConfig>;
export type SimulatorConfigInput = z.input<typeof simulatorConfig>;

/** The configuration, or one error that lists every fault in it. */
export function parseConfig(value: unknown): SimulatorConfig {
  const parsed = simulatorConfig.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `  ${issue.path.join('.') || '(top)'}: ${issue.message}`);
  throw new Error(`simulator configuration has ${faults.length} faults:\n${faults.join('\n')}`);
}
