import { existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { loadConfig, secret, type Environment } from '@nightshift/config';
import { NightshiftError } from '@nightshift/contracts';
import { z } from 'zod';
import { keyFileIn } from '../local/reset-key';
import { readState } from '../local/state';

/** Where the API is and the key for it. */
export interface Address {
  url: string;
  /** Read anew for every request: a key may be replaced while a task is followed. */
  key: () => string;
}

const settings = {
  NIGHTSHIFT_URL: z.url({ protocol: /^https?$/, error: 'expected http://… or https://…' }).optional(),
  NIGHTSHIFT_GATEWAY_URL: z.url({ protocol: /^https?$/, error: 'expected http://… or https://…' }).optional(),
  NIGHTSHIFT_API_KEY: secret(z.string()).optional(),
  NIGHTSHIFT_STATE_DIR: z.string().min(1).optional(),
};

/** This checkout, from src and from dist alike. */
export const projectRoot = path.resolve(__dirname, '../../../..');
/** The key for a server elsewhere, mode 0600. */
const userKeyFile = path.join(homedir(), '.config/nightshift/key');
const defaultUrl = 'http://127.0.0.1:7400';
const defaultGatewayUrl = 'http://127.0.0.1:7410';

/** Where the local installation keeps everything: NIGHTSHIFT_STATE_DIR, or .nightshift in this checkout. */
export function stateDirOf(env?: Environment): string {
  return loadConfig(settings, env).NIGHTSHIFT_STATE_DIR ?? path.join(projectRoot, '.nightshift');
}

/**
 * NIGHTSHIFT_URL and NIGHTSHIFT_API_KEY (or NIGHTSHIFT_API_KEY_FILE) go first, then the files of the local installation.
 * @throws NightshiftError UNAUTHENTICATED when there is no key, FAILED_PRECONDITION when others may read its file.
 */
export function findAddress(env?: Environment): Address {
  const given = loadConfig(settings, env);
  const stateDir = stateDirOf(env);
  const url = (given.NIGHTSHIFT_URL ?? readState(stateDir)?.addresses.api ?? defaultUrl).replace(/\/+$/, '');
  const key = (): string => given.NIGHTSHIFT_API_KEY ?? readKey(keyFileIn(stateDir)) ?? readKey(userKeyFile) ?? noKey();
  key();
  return { url, key };
}

/** Where the provider gateway is: NIGHTSHIFT_GATEWAY_URL, then the local installation. It listens on the loopback interface only. */
export function findGateway(env?: Environment): string {
  const given = loadConfig(settings, env).NIGHTSHIFT_GATEWAY_URL;
  return (given ?? readState(stateDirOf(env))?.addresses.gateway ?? defaultGatewayUrl).replace(/\/+$/, '');
}

function noKey(): never {
  throw new NightshiftError(
    'UNAUTHENTICATED',
    `no API key: run \`npm start\` here, set NIGHTSHIFT_API_KEY, or put a key into ${userKeyFile} (mode 0600)`,
  );
}

/** A key that others can read is no longer one. */
function readKey(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  if ((statSync(file).mode & 0o077) !== 0) {
    throw new NightshiftError('FAILED_PRECONDITION', `${file} can be read by others: run chmod 600 ${file}`);
  }
  return readFileSync(file, 'utf8').trim() || undefined;
}
