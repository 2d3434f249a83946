import { NightshiftError } from '@nightshift/contracts';
import type { EntrySpec, FileSpec, PinnedSpec, TextSpec } from './notation';
import type { PassAsked, Question } from './engine';

/** Settings of a pass as a case writes them; those of the task hold where a step says nothing. */
export type PassSpec = Partial<Omit<PassAsked, 'files' | 'handles'>> & {
  readonly files?: readonly FileSpec[];
  readonly handles?: readonly PinnedSpec[];
};

export interface TaskSpec extends PassSpec {
  readonly system?: TextSpec;
  readonly tools?: readonly { readonly name: string; readonly description: TextSpec }[];
  readonly pinned?: readonly PinnedSpec[];
}

export type Step =
  | { readonly append: readonly EntrySpec[] }
  | { readonly pass: PassSpec; readonly expect?: unknown; readonly times?: number }
  | { readonly view: object; readonly expect: unknown }
  | { readonly undo: object }
  | { readonly ask: Question; readonly input: Readonly<Record<string, unknown>>; readonly expect: unknown };

/** One case of the kit: a transcript and settings, steps, and what each of them must come to. */
export interface Case {
  readonly id: string;
  readonly title: string;
  /** Results are counted by it. */
  readonly kind: string;
  readonly task?: TaskSpec;
  readonly transcript?: readonly EntrySpec[];
  readonly steps: readonly Step[];
}

const caseKeys = new Set(['id', 'title', 'kind', 'task', 'transcript', 'steps']);
const taskKeys = new Set(['system', 'tools', 'pinned']);
const passKeys = new Set([
  'window',
  'inputMax',
  'outputMax',
  'maxOutput',
  'policy',
  'reason',
  'measured',
  'files',
  'handles',
  'summarizer',
  'summarizerWindow',
  'onDevice',
  'failedSummaries',
  'store',
  'limits',
  'imagesOnly',
  'focus',
]);
const stepKeys: Readonly<Record<string, readonly string[]>> = {
  append: ['append'],
  pass: ['pass', 'expect', 'times'],
  view: ['view', 'expect'],
  undo: ['undo'],
  ask: ['ask', 'input', 'expect'],
};
const entryKeys = ['user', 'assistant', 'result', 'note', 'rounds'];

/**
 * The cases of one file: `{"cases": […]}` or one case.
 * @throws NightshiftError INVALID_ARGUMENT that lists every fault with its place
 */
export function parseCases(text: string, file: string): Case[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new NightshiftError('INVALID_ARGUMENT', `${file} is not JSON: ${(cause as Error).message}`, { cause });
  }
  const list = isObject(value) && Array.isArray(value['cases']) ? (value['cases'] as unknown[]) : [value];
  const faults = list.flatMap((one, i) => caseFaults(one, `${file} cases[${i}]`));
  if (faults.length > 0) throw new NightshiftError('INVALID_ARGUMENT', `${file} holds faulty cases`, { faults });
  return list as Case[];
}

function caseFaults(value: unknown, at: string): string[] {
  if (!isObject(value)) return [`${at}: expected an object`];
  const name = typeof value['id'] === 'string' ? `${at} (${value['id']})` : at;
  const faults = unknownKeys(value, caseKeys, name);
  for (const key of ['id', 'title', 'kind']) if (typeof value[key] !== 'string') faults.push(`${name}.${key}: expected a text`);
  if (value['task'] !== undefined) {
    const allowed = new Set([...taskKeys, ...passKeys]);
    faults.push(
      ...(isObject(value['task']) ? unknownKeys(value['task'], allowed, `${name}.task`) : [`${name}.task: expected an object`]),
    );
  }
  faults.push(...entryFaults(value['transcript'] ?? [], `${name}.transcript`));
  if (!Array.isArray(value['steps']) || value['steps'].length === 0)
    return [...faults, `${name}.steps: expected a list of steps`];
  for (const [i, step] of (value['steps'] as unknown[]).entries()) faults.push(...stepFaults(step, `${name}.steps[${i}]`));
  return faults;
}

function stepFaults(step: unknown, at: string): string[] {
  if (!isObject(step)) return [`${at}: expected an object`];
  const kind = Object.keys(stepKeys).find((key) => key in step);
  if (kind === undefined) return [`${at}: expected one of ${Object.keys(stepKeys).join(', ')}`];
  const faults = unknownKeys(step, new Set(stepKeys[kind]), at);
  if (kind === 'append') faults.push(...entryFaults(step['append'], `${at}.append`));
  if (kind === 'pass' && isObject(step['pass'])) faults.push(...unknownKeys(step['pass'], passKeys, `${at}.pass`));
  if ((kind === 'view' || kind === 'ask') && step['expect'] === undefined) faults.push(`${at}.expect: is missing`);
  if (kind === 'ask' && !isObject(step['input'])) faults.push(`${at}.input: expected an object`);
  return faults;
}

function entryFaults(list: unknown, at: string): string[] {
  if (!Array.isArray(list)) return [`${at}: expected a list of entries`];
  return (list as unknown[]).flatMap((entry, i) =>
    isObject(entry) && entryKeys.some((key) => key in entry) ? [] : [`${at}[${i}]: expected one of ${entryKeys.join(', ')}`],
  );
}

function unknownKeys(value: Readonly<Record<string, unknown>>, known: ReadonlySet<string>, at: string): string[] {
  return Object.keys(value)
    .filter((key) => !known.has(key))
    .map((key) => `${at}.${key}: unknown; expected one of ${[...known].join(', ')}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
