import type { z } from 'zod';
import { lineOfPath } from './line-of-path';
import { SessionFault } from './session';

/** One JSON value of a session file, with the line it stands on (1 for files that are one value). */
export interface SessionRecord {
  readonly line: number;
  readonly value: unknown;
}

export interface SessionFile {
  readonly file: string;
  /** `lines`: one JSON value a line. `whole`: the file is one JSON value. */
  readonly shape: 'lines' | 'whole';
  /** The content without its byte order mark; a fault in a whole file is looked up in it. */
  readonly text: string;
  readonly records: readonly SessionRecord[];
  readonly warnings: string[];
}

/**
 * Splits a file into its JSON values. An unfinished last line is what a running or killed agent leaves: it is left out with a
 * warning; any other malformed line is a fault.
 */
export function readRecords(file: string, text: string): SessionFile {
  const content = text.replace(/^\uFEFF/, '');
  const trimmed = content.trim();
  if (trimmed === '') throw new SessionFault(file, 1, 'expected a session, found an empty file');
  if (!/^[[{]/.test(trimmed)) throw new SessionFault(file, 1, 'expected JSON (an object, or one object a line)');
  const whole = attempt(content);
  if (whole.ok && !isOneLineOfMany(whole.value))
    return { file, shape: 'whole', text: content, records: [{ line: 1, value: whole.value }], warnings: [] };

  const lines = content.split('\n');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  // A first line that is no value by itself begins a file that is one value over many lines.
  if (!whole.ok && last > 0 && !attempt(lines.find((line) => line.trim() !== '') ?? '').ok)
    throw new SessionFault(file, lineOfFault(lines.slice(0, last + 1)), `expected one JSON value (${whole.reason})`);
  const records: SessionRecord[] = [];
  const warnings: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const parsed = attempt(line);
    if (parsed.ok) records.push({ line: index + 1, value: parsed.value });
    else if (index === last && records.length > 0)
      warnings.push(`${file}:${index + 1}: the last line is cut off and was left out`);
    else throw new SessionFault(file, index + 1, `expected one JSON object (${parsed.reason})`);
  }
  return { file, shape: 'lines', text: content, records, warnings };
}

/**
 * The first line after which the text can no longer become valid, by halving; the last one when only something is missing. The
 * parser itself names a place in some of its messages only.
 */
function lineOfFault(lines: readonly string[]): number {
  let good = 0;
  let bad = lines.length;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isBeginning(lines.slice(0, middle).join('\n').trimEnd())) good = middle;
    else bad = middle;
  }
  return bad;
}

function isBeginning(text: string): boolean {
  const parsed = attempt(text);
  if (parsed.ok || text === '') return true;
  const position = /at position (\d+)/.exec(parsed.reason)?.[1];
  return position === undefined ? parsed.reason.includes('end of JSON input') : Number(position) >= text.length;
}

/** A log with a single line parses as a whole too; its `type` gives it away. */
function isOneLineOfMany(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    ('message' in value || 'payload' in value || 'timestamp' in value)
  );
}

function attempt(text: string): { ok: true; value: unknown } | { ok: false; reason: string } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    // Some messages quote the text around the fault, over several lines.
    return { ok: false, reason: (error as Error).message.replace(/, (\.\.\.)?".*/s, '') };
  }
}

/**
 * Checks one value against its schema; the fault names the field and what was expected there. In a whole file the value is the
 * file, and the fault has the line of the offending element.
 */
export function expectShape<S extends z.ZodType>(source: SessionFile, line: number, schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new SessionFault(
    source.file,
    source.shape === 'whole' ? lineOfPath(source.text, issue?.path ?? []) : line,
    `${issue?.path.join('.') || 'value'}: ${issue?.message ?? 'malformed'}`,
  );
}
