import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { type ConfigOf, flag, integer, secret, serviceSettings } from '@nightshift/config';

const absolute = z.string().refine(isAbsolute, 'expected an absolute path');

/** Absolute paths separated by colons. */
const paths = z
  .string()
  .transform((text) => text.split(':').filter(Boolean))
  .pipe(z.array(absolute));

/** NAME=value pairs separated by commas. */
const environment = z
  .string()
  .transform((text) => text.split(',').filter(Boolean))
  .pipe(z.array(z.string().regex(/^[A-Za-z_]\w*=/, 'expected NAME=value')))
  .transform((pairs) =>
    Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])),
  );

export const runnerSettings = {
  ...serviceSettings,
  METRICS_PORT: integer({ max: 65_535 }).default(7506),
  /** Stable over restarts: it names the queue of this runner and the owner of its workspaces. */
  RUNNER_ID: z.string().regex(/^[\w-]{1,64}$/, 'expected letters, digits, _ and - only'),
  /** Directory on a disk of this runner's own. */
  WORKSPACE_ROOT: absolute,
  /** Directories below which a task may ask for a workspace. */
  ALLOWED_ROOTS: paths.default([]),
  /** Permits commands without a sandbox where none works, for tasks that allow it too. */
  ALLOW_UNSANDBOXED: flag().default(false),
  /** Tool calls that run at once. */
  TOOL_SLOTS: integer({ min: 1, max: 1_000 }).default(32),
  /** Further paths that commands may read: tool chains outside /usr and /opt. */
  SANDBOX_READ_PATHS: paths.default([]),
  /** Variables a task's policy may ask for by name; nothing else of the environment reaches a command. */
  COMMAND_ENVIRONMENT: secret(environment).default({}),
  /** Permits hosts of a task's policy that lead to private networks or to this machine. */
  ALLOW_INNER_HOSTS: flag().default(false),
  PATH: z.string().default('/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'),
  /** How often the runner announces itself and when it ends its work for want of an answer, in milliseconds. */
  ANNOUNCE_EVERY_MS: integer({ min: 50, max: 60_000 }).default(15_000),
  LEASE_LOST_AFTER_MS: integer({ min: 200, max: 600_000 }).default(45_000),
} as const;

export type RunnerConfig = ConfigOf<typeof runnerSettings>;
