import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadNightshiftFile, parseCandidate, type Environment } from '@nightshift/config';
import { NightshiftError } from '@nightshift/contracts';
import { parse, stringify } from 'yaml';

/** Providers that need no entry in nightshift.yaml: a key in the environment, or a server on this machine, is enough. */
const wellKnown: Readonly<Record<string, { vendor: string; api_key_env?: string }>> = {
  anthropic: { vendor: 'anthropic', api_key_env: 'ANTHROPIC_API_KEY' },
  openai: { vendor: 'openai', api_key_env: 'OPENAI_API_KEY' },
  gemini: { vendor: 'gemini', api_key_env: 'GEMINI_API_KEY' },
  xai: { vendor: 'xai', api_key_env: 'XAI_API_KEY' },
  minimax: { vendor: 'minimax', api_key_env: 'MINIMAX_API_KEY' },
  mistral: { vendor: 'mistral', api_key_env: 'MISTRAL_API_KEY' },
  deepseek: { vendor: 'deepseek', api_key_env: 'DEEPSEEK_API_KEY' },
  groq: { vendor: 'groq', api_key_env: 'GROQ_API_KEY' },
  openrouter: { vendor: 'openrouter', api_key_env: 'OPENROUTER_API_KEY' },
  ollama: { vendor: 'ollama' },
  lmstudio: { vendor: 'lmstudio' },
  vllm: { vendor: 'vllm' },
};

export interface ProviderFile {
  /** What the services read. */
  file: string | undefined;
  /** Values of the variables that hold keys, for the gateway alone. */
  keys: Record<string, string>;
  /** A chain is configured: a task without a model of its own costs money or local time. */
  configured: boolean;
  /** Directories that the file allows tasks to work in. */
  allowedRoots: string[];
}

export interface ProviderWishes {
  /** The user's own file, if there is one. */
  file: string;
  /** "provider/model" that must be usable. */
  model?: string;
  /** Further providers: the simulator's. */
  extra?: { providers: Readonly<Record<string, object>>; keys: Readonly<Record<string, string>> };
  /** Where a file that differs from the user's is written. */
  stateDir: string;
  env: Environment;
}

interface RawFile {
  providers?: Record<string, { api_key_env?: string } & object>;
}

/**
 * The provider file of this start: the user's own, plus the providers of the simulator, plus the entry of a well-known
 * provider that --model names.
 * @throws NightshiftError INVALID_ARGUMENT when the file is faulty or the model cannot be used.
 */
export function providerFileOf(wishes: ProviderWishes): ProviderFile {
  const own = existsSync(wishes.file) ? wishes.file : undefined;
  const checked = loadNightshiftFile(own);
  const raw: RawFile = own ? ((parse(readFileSync(own, 'utf8')) as RawFile | null) ?? {}) : {};
  const added = { ...wishes.extra?.providers, ...namedProvider(wishes, Object.keys(checked.providers)) };
  const providers = { ...raw.providers, ...added } as NonNullable<RawFile['providers']>;
  const file = Object.keys(added).length > 0 ? writeMerged({ ...raw, providers }, wishes.stateDir) : own;
  return {
    file,
    keys: { ...keysOf(providers, wishes.env), ...wishes.extra?.keys },
    configured: Object.keys(checked.chains).length > 0,
    allowedRoots: checked.workspaces.allowed_roots,
  };
}

function namedProvider({ model, env }: ProviderWishes, known: readonly string[]): Record<string, object> {
  if (model === undefined) return {};
  const { provider } = parseCandidate(model);
  if (known.includes(provider)) return {};
  const entry = Object.hasOwn(wellKnown, provider) ? wellKnown[provider] : undefined;
  if (!entry) {
    const names = [...known, ...Object.keys(wellKnown)].join(', ');
    throw new NightshiftError(
      'INVALID_ARGUMENT',
      `--model: no provider "${provider}" (known: ${names}); nightshift.yaml can name more`,
    );
  }
  if (entry.api_key_env && !env[entry.api_key_env]) {
    throw new NightshiftError('INVALID_ARGUMENT', `--model ${model} needs a key in ${entry.api_key_env}`);
  }
  return { [provider]: entry };
}

function writeMerged(content: RawFile, stateDir: string): string {
  const file = path.join(stateDir, 'nightshift.yaml');
  writeFileSync(file, `# Written by npm start: nightshift.yaml and the providers of this start.\n${stringify(content)}`, {
    mode: 0o600,
  });
  return file;
}

/** Keys and their `_FILE` twins that the file names and the environment holds. */
function keysOf(providers: NonNullable<RawFile['providers']>, env: Environment): Record<string, string> {
  const names = Object.values(providers).flatMap((one) => (one.api_key_env ? [one.api_key_env, `${one.api_key_env}_FILE`] : []));
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}
