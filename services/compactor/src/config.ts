import { z } from 'zod';
import { integer, serviceSettings, type ConfigOf } from '@nightshift/config';

export const settings = {
  ...serviceSettings,
  METRICS_PORT: integer({ max: 65_535 }).default(7504),
  /** Passes that run at the same time in this process. Each holds its transcript in memory. */
  COMPACTION_SLOTS: integer({ min: 1, max: 256 }).default(4),
  /** Wall-clock budget of one pass, in milliseconds; tiers that need a model end when it is used up. */
  PASS_BUDGET_MS: integer({ min: 1_000, max: 900_000 }).default(300_000),
  /** Path of nightshift.yaml: `on_device` names the small local model. */
  NIGHTSHIFT_FILE: z.string().min(1).optional(),
} as const;

export type CompactorConfig = ConfigOf<typeof settings>;
