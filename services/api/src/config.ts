import { databaseSettings, integer, loadConfig, loadNightshiftFile, secret, serviceSettings } from '@nightshift/config';
import type { Environment, NightshiftFile } from '@nightshift/config';
import { z } from 'zod';

export const apiSettings = {
  ...serviceSettings,
  ...databaseSettings,
  API_HOST: z.string().min(1).default('127.0.0.1'),
  API_PORT: integer({ max: 65_535 }).default(7400),
  /** Largest body of a request, in bytes; with its envelope it must fit one message of the bus. */
  API_MAX_BODY_BYTES: integer({ min: 1024, max: 7 * 1024 * 1024 }).default(4 * 1024 * 1024),
  /** Requests a minute that one key may make at one replica. */
  API_RATE_PER_MINUTE: integer({ min: 1 }).default(6_000),
  /** The admin key of this installation; made and printed at the first start when absent. */
  BOOTSTRAP_KEY: secret(z.string()).optional(),
  /** The file it comes from, if any: read again at SIGHUP. */
  BOOTSTRAP_KEY_FILE: z.string().optional(),
  NIGHTSHIFT_FILE: z.string().optional(),
} as const;

type Settings = z.output<z.ZodObject<typeof apiSettings>>;

/** What the rest of the service sees of its configuration. */
export class ApiConfig {
  constructor(
    readonly settings: Settings,
    readonly file: NightshiftFile,
  ) {}
}

/** @throws NightshiftError INVALID_ARGUMENT listing every problem of the environment, or of nightshift.yaml. */
export function readConfig(env?: Environment): ApiConfig {
  const settings = loadConfig(apiSettings, env);
  return new ApiConfig(settings, loadNightshiftFile(settings.NIGHTSHIFT_FILE));
}
