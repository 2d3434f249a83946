import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { NightshiftError } from '@nightshift/contracts';
import { isSecret } from './secrets';

/** The process environment, or a stand-in for it. */
export type Environment = Readonly<Record<string, string | undefined>>;
/** Setting name (the environment variable) → schema. */
export type Settings = z.ZodRawShape;
export type ConfigOf<S extends Settings> = z.output<z.ZodObject<S>>;

interface Reading {
  values: Record<string, string>;
  faults: string[];
}

/** An empty variable counts as not set: Compose files and Helm charts pass empty strings for "nothing". */
function read(shape: Settings, env: Environment): Reading {
  const reading: Reading = { values: {}, faults: [] };
  for (const [name, schema] of Object.entries(shape)) {
    const direct = env[name];
    const file = isSecret(schema) ? env[`${name}_FILE`] : undefined;
    if (direct && file) reading.faults.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    else if (file) {
      try {
        reading.values[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      } catch (error) {
        reading.faults.push(`${name}_FILE: cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
      }
    } else if (direct) reading.values[name] = direct;
  }
  return reading;
}

/** One line per fault, never with the value itself: it may be a secret. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown: ${issue.keys.join(', ')}`;
  return issue.message.replace(/^Invalid input: /, '').replace(/, received undefined$/, ', found nothing');
}

/**
 * Reads the settings of one service from the environment.
 * Throws INVALID_ARGUMENT whose `faults` list every problem at once; a `main` exits with 78 on it.
 */
export function loadConfig<S extends Settings>(shape: S, env: Environment = process.env): ConfigOf<S> {
  const { values, faults } = read(shape, env);
  const parsed = z.object(shape).safeParse(values);
  const unread = new Set(faults.map((fault) => fault.split(/_FILE:|:/)[0]));
  for (const issue of parsed.error?.issues ?? []) {
    const name = issue.path.join('.');
    if (!unread.has(String(issue.path[0]))) faults.push(`${name}: ${describeIssue(issue)}`);
  }
  if (!parsed.success || faults.length > 0) {
    throw new NightshiftError('INVALID_ARGUMENT', `the configuration is not valid\n  ${faults.join('\n  ')}`, { faults });
  }
  return parsed.data as ConfigOf<S>;
}

const mask = '******';

/** The effective configuration, fit for a log: secrets and passwords inside URLs are masked. */
export function describeConfig<S extends Settings>(shape: S, value: ConfigOf<S>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    const setting = (value as Record<string, unknown>)[name];
    if (setting === undefined) continue;
    if (isSecret(schema)) shown[name] = mask;
    else shown[name] = typeof setting === 'string' ? setting.replace(/(:\/\/[^:/@\s]*:)[^@\s]+@/, `$1${mask}@`) : setting;
  }
  return shown;
}

/** The values a logger must never print. */
export function secretValues<S extends Settings>(shape: S, value: ConfigOf<S>): string[] {
  const found: string[] = [];
  for (const [name, schema] of Object.entries(shape)) {
    const setting = (value as Record<string, unknown>)[name];
    if (isSecret(schema) && typeof setting === 'string') found.push(setting);
  }
  return found;
}
