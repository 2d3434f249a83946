import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { NightshiftError } from '@nightshift/contracts';
import { keyOf, looksLikeKey, storedKey } from './keys';
import type { KeysStore } from './keys.store';

export interface BootstrapSources {
  /** The key itself, from the environment. */
  key?: string;
  /** A file that holds it; read again whenever asked, so that a lost key is replaced by writing a new one. */
  file?: string;
}

/**
 * Makes sure that somebody can get in: takes the bootstrap key it is given, or makes one at the first start.
 * @returns what to print once: the token when it was made here, and what happened.
 * @throws NightshiftError INVALID_ARGUMENT when the given key is not one of ours.
 */
export async function bootstrap(store: KeysStore, sources: BootstrapSources): Promise<{ token?: string; note?: string }> {
  const empty = await store.prepareFirstTeam();
  const given = givenKey(sources);
  if (given) {
    const fresh = await store.replaceBootstrap(storedKey(given));
    return fresh ? { note: 'the bootstrap admin key was taken over' } : {};
  }
  if (!empty) return {};
  const key = keyOf(randomBytes(32));
  await store.replaceBootstrap(key);
  return { token: key.token, note: 'the bootstrap admin key; it is shown only this once' };
}

function givenKey(sources: BootstrapSources): string | undefined {
  const text = sources.file === undefined ? sources.key : readFileSync(sources.file, 'utf8').trim();
  if (text === undefined || text === '') return undefined;
  if (!looksLikeKey(text)) {
    throw new NightshiftError('INVALID_ARGUMENT', 'the bootstrap key is not a Nightshift key', {
      faults: ['BOOTSTRAP_KEY: expected "nsk_" and 43 characters of base64url (32 random bytes)'],
    });
  }
  return text;
}
