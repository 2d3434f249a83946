import { databaseSettings, integer, serviceSettings } from '@nightshift/config';

const day = 24 * 60 * 60 * 1_000;

/** Every setting of the service. Sizes in bytes, times in milliseconds. */
export const settings = {
  ...serviceSettings,
  ...databaseSettings,
  /** One result may have this many bytes. */
  RESULT_MAX_BYTES: integer({ min: 1, max: 1024 ** 3 }).default(64 * 1024 ** 2),
  /** Results stay this long after their root task has ended. */
  RETENTION_AGE_MS: integer({ min: 0 }).default(30 * day),
  /** Bytes per team, before compression; results of ended root tasks beyond it are removed, never those of live ones. */
  RETENTION_BYTES_PER_TEAM: integer({ min: 0 }).default(20 * 1024 ** 3),
  COLLECT_EVERY_MS: integer({ min: 1_000 }).default(10 * 60 * 1_000),
} as const;
