import {
  databaseSettings,
  integer,
  loadConfig,
  secret,
  serviceSettings,
  type Environment,
  type NightshiftFile,
} from '@nightshift/config';
import { z } from 'zod';

/** Every setting of the service beside the provider file. */
export const settings = {
  ...serviceSettings,
  ...databaseSettings,
  /** The commented configuration with providers, chains and windows; without it there is no provider. */
  NIGHTSHIFT_FILE: z.string().optional(),
  /** Internal HTTP route; loopback only. 0 = any free port. */
  GATEWAY_PORT: integer({ max: 65_535 }).default(7410),
} as const;

/** The variables (or their `_FILE` twins) that the provider file names as holding keys. */
export function providerKeys(
  file: NightshiftFile,
  usual: readonly string[],
  environment?: Environment,
): Record<string, string | undefined> {
  const named = Object.values(file.providers).flatMap((provider) => (provider.api_key_env ? [provider.api_key_env] : []));
  const shape = Object.fromEntries([...new Set([...named, ...usual])].map((name) => [name, secret(z.string()).optional()]));
  return environment ? loadConfig(shape, environment) : loadConfig(shape);
}
