import { z } from 'zod';
import { databaseSettings, integer, serviceSettings } from '@nightshift/config';
import type { ConfigOf } from '@nightshift/config';

export const orchestratorSettings = {
  ...serviceSettings,
  ...databaseSettings,
  METRICS_PORT: integer({ max: 65_535 }).default(7501),
  /** nightshift.yaml: the default chain of tasks that name no model. */
  NIGHTSHIFT_FILE: z.string().optional(),
  /** Steps at work at once; most of them wait for a model. */
  STEP_SLOTS: integer({ min: 1, max: 10_000 }).default(512),
  /** How long the leases of a process outlive its last heartbeat, in ms. */
  LEASE_MS: integer({ min: 1_000, max: 300_000 }).default(10_000),
} as const;

export type OrchestratorConfig = ConfigOf<typeof orchestratorSettings>;
