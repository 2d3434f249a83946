import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { NightshiftError } from '@nightshift/contracts';
import { describeIssue } from './load-config';

const tokens = z.number().int().positive();
const milliseconds = z.number().int().positive();
const providerId = z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'expected lower-case letters, digits, _ and -');

/** "provider/model": split at the first slash, since model names hold slashes and colons themselves. */
const candidate = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]*\/.+$/, 'expected "provider/model"')
  .transform(parseCandidate);

export interface CandidateName {
  provider: string;
  model: string;
}

/** Splits "provider/model" at the first slash. Throws INVALID_ARGUMENT when there is none. */
export function parseCandidate(text: string): CandidateName {
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1) {
    throw new NightshiftError('INVALID_ARGUMENT', `"${text}" is not a model: expected "provider/model"`);
  }
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

const model = z.strictObject({
  window: tokens.optional(),
  input_max: tokens.optional(),
  output_max: tokens.optional(),
  /** Sent to Ollama with every call; another value than the loaded one reloads the model. */
  num_ctx: tokens.optional(),
});

const clocks = z.strictObject({
  connect_ms: milliseconds.optional(),
  headers_ms: milliseconds.optional(),
  first_content_ms: milliseconds.optional(),
  idle_ms: milliseconds.optional(),
  total_ms: milliseconds.optional(),
});

const provider = z.strictObject({
  vendor: z.string().min(1),
  base_url: z.url().optional(),
  /** Name of the environment variable, never the key itself. */
  api_key_env: z.string().min(1).optional(),
  api_key_file: z.string().min(1).optional(),
  headers: z.record(z.string(), z.string()).default({}),
  models: z.record(z.string(), model).default({}),
  max_concurrency: z.number().int().positive().optional(),
  clocks: clocks.default({}),
});

/** The operator's compaction policy (`compaction.v1.Policy`); what is left out follows the code's defaults. */
const compaction = z.strictObject({
  enabled: z.boolean().optional(),
  fraction: z.number().gt(0).max(1).optional(),
  cap: tokens.optional(),
  floor: tokens.optional(),
  default_reserve: tokens.optional(),
  min_retained: tokens.optional(),
  token_compression: z.boolean().optional(),
});

const file = z.strictObject({
  providers: z.record(providerId, provider).default({}),
  chains: z.record(z.string(), z.array(candidate).min(1)).default({}),
  /** The model asked first where a compaction must not leave the machine. */
  on_device: candidate.optional(),
  compaction: compaction.default({}),
  workspaces: z.strictObject({ allowed_roots: z.array(z.string().min(1)).default([]) }).default({ allowed_roots: [] }),
});

export type NightshiftFile = z.output<typeof file>;
export type ProviderEntry = NightshiftFile['providers'][string];
export type ModelEntry = ProviderEntry['models'][string];

/** Checks the text of a nightshift.yaml; `name` stands before each fault. */
export function parseNightshiftFile(text: string, name: string): NightshiftFile {
  const document = parseDocument(text, { prettyErrors: true });
  const syntax = document.errors.map((error) => `${name}:${error.message.split('\n')[0]}`);
  if (syntax.length > 0) throw invalid(name, syntax);
  const parsed = file.safeParse(document.toJS() ?? {});
  if (!parsed.success) {
    throw invalid(
      name,
      parsed.error.issues.map((issue) => `${name}:${issue.path.map(String).join('.') || '(top)'}: ${describeIssue(issue)}`),
    );
  }
  const unknown = unknownProviders(parsed.data).map((fault) => `${name}:${fault}`);
  if (unknown.length > 0) throw invalid(name, unknown);
  return parsed.data;
}

function unknownProviders(parsed: NightshiftFile): string[] {
  const known = Object.keys(parsed.providers);
  const used = Object.entries(parsed.chains).flatMap(([chain, models]) =>
    models.map((entry, index) => ({ path: `chains.${chain}.${index}`, provider: entry.provider })),
  );
  if (parsed.on_device) used.push({ path: 'on_device', provider: parsed.on_device.provider });
  return used
    .filter((use) => !known.includes(use.provider))
    .map((use) => `${use.path}: expected a provider of this file (${known.join(', ') || 'it has none'}), found ${use.provider}`);
}

function invalid(name: string, faults: string[]): NightshiftError {
  return new NightshiftError('INVALID_ARGUMENT', `${name} is not valid\n  ${faults.join('\n  ')}`, { faults });
}

/**
 * Reads the one commented configuration file; undefined gives an empty one.
 * Throws INVALID_ARGUMENT with one fault per problem: "nightshift.yaml:providers.x.vendor: expected string, found nothing".
 */
export function loadNightshiftFile(path: string | undefined): NightshiftFile {
  if (path === undefined || path === '') return parseNightshiftFile('', 'nightshift.yaml');
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new NightshiftError('INVALID_ARGUMENT', `cannot read ${path} (${reason})`, {
      cause: error,
      faults: [`${path}: expected a readable file (${reason})`],
    });
  }
  return parseNightshiftFile(text, basename(path));
}
