import { databaseSettings, integer, serviceSettings } from '@nightshift/config';
import { z } from 'zod';

/** Every setting of the service. Times in milliseconds. */
export const settings = {
  ...serviceSettings,
  ...databaseSettings,
  /** nightshift.yaml. */
  NIGHTSHIFT_FILE: z.string().optional(),
  /** Between two looks at a local server. */
  POLL_EVERY_MS: integer({ min: 200 }).default(30_000),
  /** Between two readings of a vendor's list. */
  LIST_EVERY_MS: integer({ min: 200 }).default(600_000),
  /** One answer of a local server. */
  POLL_TIMEOUT_MS: integer({ min: 100, max: 60_000 }).default(3_000),
  POLL_MAX_BYTES: integer({ min: 1_024 }).default(8 * 1024 ** 2),
  REPUBLISH_EVERY_MS: integer({ min: 200 }).default(60_000),
  /** How often a replica that is not the active one tries to become it. */
  LEASE_RETRY_MS: integer({ min: 100 }).default(2_000),
} as const;
